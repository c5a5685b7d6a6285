// Locks on ranges of one object, as Lustre's servers give them (LDLM extent locks, ldlm_extent.c):
// who asks gets as much as nobody else has or is about to want, so that one writer alone asks once;
// who asks for what another one has takes all of that lock away. Where many have locks, they are
// given less beyond what was asked for: nothing before it from the fifth lock on, 32 MiB after it
// from the 33rd on. Lustre knows what others want from those who wait for a lock; here whoever has
// written goes on behind it. Knows no time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace forebay::adapters {

// The range that a rank writes, from `begin` up to `end`; the lock is its node's, the client's.
struct LockRange {
    std::int32_t client = 0;
    std::int32_t rank = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

class ExtentLocks {
public:
    static constexpr std::size_t grow_before_max = 4;
    static constexpr std::size_t grow_freely_max = 32;
    static constexpr std::int64_t grown_bytes_max = 32 << 20;

    // Whether the client has a lock of all of it.
    [[nodiscard]] bool use(const LockRange& range);
    // The client has one afterwards. How many locks others lost.
    std::int32_t grant(const LockRange& range);

    [[nodiscard]] std::size_t granted() const noexcept { return locks_.size(); }

private:
    struct Lock {
        std::int64_t end = 0;
        std::int32_t client = 0;
    };
    struct Writer {
        std::int64_t next = 0;  // where it goes on
        std::int32_t client = 0;
    };

    void goes_on(const LockRange& range);
    [[nodiscard]] LockRange free_around(const LockRange& range) const;

    std::map<std::int64_t, Lock> locks_;                     // by where they begin; none overlap
    std::unordered_map<std::int32_t, Writer> writers_;       // by rank
    std::set<std::pair<std::int64_t, std::int32_t>> nexts_;  // with the rank
};

}  // namespace forebay::adapters
