// Which file is drained next, and why. A file that a program has just begun to write is left alone:
// requests get larger, and overwritten bytes are never written. DrainReason lists the reasons not
// to wait.
#pragma once

#include "foundation/base/units.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::pool {

// The reasons to drain a file, the most urgent last.
enum class DrainReason {
    none,
    quiet,     // nobody wrote to it for a while
    pressure,  // enough for large requests, or half of the cap, is used, or a client waits
    age,       // its oldest byte is a third as old as any may get
    asked,     // somebody waits for it, or it leaves the pool
};

// One file that has deposits.
struct DrainCandidate {
    std::int64_t held_bytes = 0;      // deposited and not drained
    std::int64_t pressing_bytes = 0;  // so many are to be drained while the file is written to
    std::int64_t oldest_ns = 0;       // when the oldest of them was taken
    std::int64_t written_ns = 0;      // when the newest was
    std::int64_t retry_ns = 0;        // not before, after a failure; 0: it has not failed
    bool asked = false;
    bool held_back = false;  // a job is under way, or may not be now
};

// The state of the node.
struct NodeSituation {
    std::int64_t now_ns = 0;
    std::int64_t quiet_ns = 0;
    std::int64_t age_max_ns = 0;
    bool pressed = false;  // half of the cap is used, a client waits for credit, or no more extents
    bool closing = false;  // everything is to be drained
};

[[nodiscard]] DrainReason why_to_drain(const DrainCandidate& candidate,
                                       const NodeSituation& situation) noexcept;

struct DrainChoice {
    std::size_t candidate = 0;
    DrainReason why = DrainReason::none;
    bool operator==(const DrainChoice&) const noexcept = default;
};
// The most urgent one; of several, the one with the oldest byte. nullopt: none now.
[[nodiscard]] std::optional<DrainChoice> next_to_drain(std::span<const DrainCandidate> candidates,
                                                       const NodeSituation& situation) noexcept;

// Where a deposit stands in a line that is first in, first out: what came at one time came from one
// client in the order of its log.
struct Turn {
    std::int64_t time_ns = 0;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    auto operator<=>(const Turn&) const noexcept = default;
};

// One block of such a line: the first, and what follows it there and in the file as well.
class FifoBlock {
public:
    struct Limits {
        std::int64_t bytes = 0;
        std::size_t pieces = 0;
    };
    explicit FifoBlock(const Limits& most) noexcept : left_{most} {}

    // So much of the next one, from its begin on, belongs to the block; 0: nothing more does.
    [[nodiscard]] Length add(const Extent& next) noexcept;

private:
    Limits left_;
    std::optional<Offset> end_;
};

// So many deposited bytes are enough for large requests: a file system that waits until the burst
// has ended, is done later by as much. A large window leaves room for more of a burst before
// draining takes part of the processors.
[[nodiscard]] std::int64_t worthwhile_bytes(std::int64_t window_bytes) noexcept;

// Bytes of one job: so many that requests are in flight all the time, so few that memory comes back
// while a writer waits for it.
[[nodiscard]] std::int64_t job_bytes(std::int64_t window_bytes, std::int64_t cap_bytes,
                                     std::int64_t request_bytes_max) noexcept;

// Files that are drained at the same time have so many shares each, but those that lie in short
// runs: a small request leaves its target idle for most of its time, so one share is enough.
inline constexpr std::int32_t shares_of_file = 4;
// The shares of a job of so many bytes in so many runs.
[[nodiscard]] std::int32_t shares_of(std::int64_t bytes, std::int64_t runs) noexcept;

}  // namespace forebay::pool
