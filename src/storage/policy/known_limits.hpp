// The values of k found in earlier runs: a short list and its text format. It has one entry per
// file system, layout and direction, and drops the oldest. Pure: the caller does the I/O and passes
// the time.
#pragma once

#include "storage/policy/throttle.hpp"
#include "storage/policy/tuning.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::plan {

// The properties that k depends on.
struct LimitKey {
    std::string file_system;  // identifies it on all nodes and across mounts; without blanks
    FileStripes layout;
    IoDirection direction = IoDirection::write;

    bool operator==(const LimitKey&) const noexcept = default;
};

struct KnownLimit {
    LimitKey key;
    FoundLimit found;
    std::int64_t found_s = 0;  // seconds since 1970

    bool operator==(const KnownLimit&) const noexcept = default;
};

// Maximum ages of an entry, in seconds.
struct AgeLimits {
    std::int64_t trusted = 0;  // up to this age its k is used; then the search for k starts from it
    std::int64_t kept = 0;     // after this age the entry is ignored
};

class KnownLimits {
public:
    static constexpr std::size_t entries_max = 256;

    // Skips invalid lines: their k will be found again.
    [[nodiscard]] static KnownLimits parse(std::string_view text);
    [[nodiscard]] std::string text() const;

    // The limit known at time `now_s`; 0: none. Its rate is 0 when the entry is too old to be
    // trusted.
    [[nodiscard]] FoundLimit find(const LimitKey& key, std::int64_t now_s,
                                  const AgeLimits& ages) const;
    // Adds or replaces an entry. False if an equal entry is known already: the text need not be
    // written.
    bool note(const KnownLimit& limit, const AgeLimits& ages);

    [[nodiscard]] const std::vector<KnownLimit>& entries() const noexcept { return entries_; }

private:
    std::vector<KnownLimit> entries_;  // newest last
};

}  // namespace forebay::plan
