// The k found on file systems, from run to run: a short list, and its text. One entry per file
// system, layout and direction; the newest are kept. Pure: the caller that reads and writes the
// text passes the time.
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
    std::string file_system;  // one word, the same on all nodes and after every mount
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

// How old an entry may be, in seconds.
struct AgeLimits {
    std::int64_t trusted = 0;  // beyond, k is where finding begins
    std::int64_t kept = 0;     // beyond, it is forgotten
};

class KnownLimits {
public:
    static constexpr std::size_t entries_max = 256;

    // Lines that make no sense are left out: what they said is found again.
    [[nodiscard]] static KnownLimits parse(std::string_view text);
    [[nodiscard]] std::string text() const;

    // The limit known at `now_s`; 0: none. Without a rate when it is not trusted any more.
    [[nodiscard]] FoundLimit find(const LimitKey& key, std::int64_t now_s,
                                  const AgeLimits& ages) const;
    // False when what is known already says so: nothing has to be written.
    bool note(const KnownLimit& limit, const AgeLimits& ages);

    [[nodiscard]] const std::vector<KnownLimit>& entries() const noexcept { return entries_; }

private:
    std::vector<KnownLimit> entries_;  // newest last
};

}  // namespace forebay::plan
