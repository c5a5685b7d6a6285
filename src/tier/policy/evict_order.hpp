// Decides which replicas leave fast storage. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::tier {

// A replica. Times are CLOCK_REALTIME, since they outlive the node.
struct EvictCandidate {
    std::int64_t bytes = 0;  // that it takes
    bool clean = false;      // the parallel file system has its bytes, durably, and says so
    bool open = false;       // a program or the mover uses it
    bool pinned = false;
    double heat = 0;           // as of its last use (heat.hpp)
    std::int64_t used_ns = 0;  // the time of its last use
    std::int64_t live_ns = 0;  // its policy's time to live; 0: no limit
};

struct EvictSituation {
    std::int64_t now_ns = 0;
    std::int64_t used_bytes = 0;  // of fast storage, by all replicas
    std::int64_t high_bytes = 0;  // above this, replicas are evicted …
    std::int64_t low_bytes = 0;   // … until no more than this is used
};

// The candidates to be evicted now, in this order: those whose time is up, oldest first; then, if
// more than high_bytes are used, the coldest ones. Never one that is not clean, that is open, or
// that is pinned.
[[nodiscard]] std::vector<std::size_t> to_evict(std::span<const EvictCandidate> candidates,
                                                const EvictSituation& situation);

// Whether no more candidates are needed than these, of which to_evict() has chosen some: fast
// storage was not above the high water mark, or comes down to the low one.
[[nodiscard]] bool makes_room(std::span<const EvictCandidate> candidates,
                              std::span<const std::size_t> chosen,
                              const EvictSituation& situation) noexcept;

// How many bytes may still be used when room has been made for a write that found none: a tenth of
// the capacity is freed at least, since such a write is rarely the last. Where a quota is smaller
// than the capacity, this may be negative: then all may go.
[[nodiscard]] std::int64_t low_for_a_write(std::int64_t used_bytes, std::int64_t capacity_bytes,
                                           std::int64_t low_bytes) noexcept;

}  // namespace forebay::tier
