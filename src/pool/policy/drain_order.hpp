// Decides which file is drained (written back) next, and why. Pure. A file that a program is
// writing to is left alone at first: requests get larger, and bytes that are overwritten soon are
// never written to the file system. DrainReason lists what overrides that.
#pragma once

#include "foundation/base/units.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::pool {

// The reasons to drain a file, in ascending urgency.
enum class DrainReason {
    none,
    quiet,  // no client has written to it for `quiet_ns`
    // There is enough for large requests, half of the cap is used, or a client waits for memory.
    pressure,
    age,    // its oldest deposit has a third of the maximum age
    asked,  // a client waits for it, or the file leaves the pool
};

// One file that has deposits.
struct DrainCandidate {
    std::int64_t held_bytes = 0;      // deposited and not drained
    std::int64_t pressing_bytes = 0;  // with this many, it is drained even while it is written to
    std::int64_t oldest_ns = 0;       // CLOCK_MONOTONIC when the oldest was taken
    std::int64_t written_ns = 0;      // the same for the newest
    std::int64_t retry_ns = 0;        // earliest time of a retry after a failure; 0: no failure
    // A client waits for the file to be drained, or the file leaves the pool.
    bool asked = false;
    bool held_back = false;  // a batch of the file is under way, or none may begin
};

// The state of the node.
struct NodeSituation {
    std::int64_t now_ns = 0;
    // See PoolOptions for these two.
    std::int64_t quiet_ns = 0;
    std::int64_t age_max_ns = 0;
    // Memory or extents are short: half of the cap is used, or a client waits for credit.
    bool pressed = false;
    bool closing = false;  // the pool closes down: everything is to be drained
};

[[nodiscard]] DrainReason why_to_drain(const DrainCandidate& candidate,
                                       const NodeSituation& situation) noexcept;

struct DrainChoice {
    std::size_t candidate = 0;
    DrainReason why = DrainReason::none;
    bool operator==(const DrainChoice&) const noexcept = default;
};
// The candidate with the most urgent reason; among several, the one with the oldest deposit.
// nullopt: no file is to be drained now.
[[nodiscard]] std::optional<DrainChoice> next_to_drain(std::span<const DrainCandidate> candidates,
                                                       const NodeSituation& situation) noexcept;

// A deposit's place in first-in-first-out order. Deposits of one time come from one client, and are
// in the order of its log.
struct Turn {
    std::int64_t time_ns = 0;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    auto operator<=>(const Turn&) const noexcept = default;
};

// Collects one block for FIFO draining: the first deposit, and those that follow it both in FIFO
// order and in the file.
class FifoBlock {
public:
    struct Limits {
        std::int64_t bytes = 0;
        std::size_t pieces = 0;
    };
    explicit FifoBlock(const Limits& most) noexcept : left_{most} {}

    // How many bytes of `next`, from its beginning, belong to the block. 0: the block is complete.
    [[nodiscard]] Length add(const Extent& next) noexcept;

private:
    Limits left_;
    std::optional<Offset> end_;
};

// The deposited bytes that make draining worthwhile while the file is written to, the threshold of
// DrainReason::pressure: enough for large requests, since a file system that idles until the burst
// has ended is done later by as much. With a large window the number is larger: draining takes
// processor time, and there is room for more of the burst before that.
[[nodiscard]] std::int64_t worthwhile_bytes(std::int64_t window_bytes) noexcept;

// Bytes of one batch: enough to keep requests in flight all the time, but few enough that memory
// comes free while a writer waits for it.
[[nodiscard]] std::int64_t job_bytes(std::int64_t window_bytes, std::int64_t cap_bytes,
                                     std::int64_t request_bytes_max) noexcept;

// How many files are drained at a time is counted in shares: PoolOptions::files_at_once times
// `shares_of_file`. A file takes `shares_of_file` of them, but only one if its deposits are short
// runs: small requests leave the targets idle most of the time.
inline constexpr std::int32_t shares_of_file = 4;
// The shares of a batch of `bytes` bytes in `runs` runs that are contiguous in the file.
[[nodiscard]] std::int32_t shares_of(std::int64_t bytes, std::int64_t runs) noexcept;

}  // namespace forebay::pool
