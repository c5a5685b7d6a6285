// How far the ranks of a node are: one slot for each in memory that they share, written with plain
// stores by the rank and read by the monitors of all. Nothing here sends a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace forebay::measure {

// Zeroed memory is a valid slot.
struct alignas(64) ProgressSlot {
    std::atomic<std::int64_t> bytes;  // moved in this phase, or operations done
    std::atomic<std::int64_t> calls;  // ended in this run; a monitor sees from it that a rank lives
    std::atomic<std::int32_t> process;  // its number; 0 when it has ended in good order
    std::atomic<std::int32_t>
        working;  // 1 while the rank is inside calls that must end by themselves

    void did(std::int64_t count) noexcept {
        bytes.store(bytes.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
        lives();
    }
    // A call has ended that is not among what is counted.
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
    std::size_t slowest = 0;  // position among the slots
};
[[nodiscard]] NodeProgress progress_of(std::span<const ProgressSlot> slots) noexcept;

enum class CountedUnit { bytes, operations };  // what the slots count

struct PhaseText {
    std::string name;                // "write"
    std::int64_t bytes_of_node = 0;  // expected; 0: not known
    double seconds = 0.0;            // since its begin
    std::int64_t first_rank = 0;     // world rank of slot 0, for the name of the slowest
    CountedUnit counted = CountedUnit::bytes;
};
// "write 37 %  1234.5 MiB/s  slowest rank 3 at 71 % of the fastest"
[[nodiscard]] std::string live_line(const PhaseText& phase, const NodeProgress& node);

}  // namespace forebay::measure
