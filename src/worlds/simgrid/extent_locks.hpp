// The locks on byte ranges of one object, granted as Lustre's servers do (LDLM extent locks,
// ldlm_extent.c). A client gets as large a range as no other client holds or is about to need, so
// that a single writer asks once. A conflicting request revokes the other client's whole lock. With
// many locks, less is granted beyond the request: nothing before it from the fifth lock on, 32 MiB
// after its start from the 33rd on. Lustre knows what other clients need from their waiting
// requests; this model assumes that a rank that has written goes on sequentially. Pure: it has no
// clock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace forebay::adapters {

// The bytes [begin, end) that a rank writes. The lock belongs to its node, which is the client.
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

    // Whether the client already holds a lock on the whole range.
    [[nodiscard]] bool use(const LockRange& range);
    // Grants the client a lock on the range. Returns the number of locks that other clients lost.
    std::int32_t grant(const LockRange& range);

    [[nodiscard]] std::size_t granted() const noexcept { return locks_.size(); }

private:
    struct Lock {
        std::int64_t end = 0;
        std::int32_t client = 0;
    };
    struct Writer {
        std::int64_t next = 0;  // the offset at which it is expected to go on
        std::int32_t client = 0;
    };

    void goes_on(const LockRange& range);
    [[nodiscard]] LockRange free_around(const LockRange& range) const;

    std::map<std::int64_t, Lock> locks_;                     // by begin; disjoint
    std::unordered_map<std::int32_t, Writer> writers_;       // by rank
    std::set<std::pair<std::int64_t, std::int32_t>> nexts_;  // (next, rank) of all writers
};

}  // namespace forebay::adapters
