// The progress of the ranks of a node: one slot per rank in shared memory, written by its rank with
// plain stores and read by all monitors. Nothing here sends a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace forebay::measure {

// Zeroed memory is a valid slot.
struct alignas(64) ProgressSlot {
    std::atomic<std::int64_t> bytes;    // bytes moved, or operations done, in this phase
    std::atomic<std::int64_t> calls;    // calls ended in this run; the watchdog's heartbeat
    std::atomic<std::int32_t> process;  // process ID; 0 after the rank has ended normally
    // 1 while the rank is inside calls that must end by themselves.
    std::atomic<std::int32_t> working;

    void did(std::int64_t count) noexcept {
        bytes.store(bytes.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
        lives();
    }
    // Counts a call that has ended but moves no bytes, so that the watchdog sees the rank alive.
    void lives() noexcept {
        calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// A node's numbers on the live line.
struct NodeProgress {
    std::int64_t bytes = 0;
    std::int64_t slowest_bytes = 0;
    std::int64_t fastest_bytes = 0;
    std::size_t slowest = 0;  // index of the slowest rank's slot
};
[[nodiscard]] NodeProgress progress_of(std::span<const ProgressSlot> slots) noexcept;

enum class CountedUnit { bytes, operations };  // the unit that the slots count

struct PhaseText {
    std::string name;                // "write"
    std::int64_t bytes_of_node = 0;  // expected; 0: unknown
    double seconds = 0.0;            // since the phase began
    std::int64_t first_rank = 0;     // world rank of slot 0, to name the slowest rank
    CountedUnit counted = CountedUnit::bytes;
};
// "write 37 %  1234.5 MiB/s  slowest rank 3 at 71 % of the fastest"
[[nodiscard]] std::string live_line(const PhaseText& phase, const NodeProgress& node);

}  // namespace forebay::measure
