// Decides which written file is moved to the parallel file system next, and why. Pure.
#pragma once

#include "tier/policy/folder_policy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::tier {

// The reasons to move a file, in ascending urgency.
enum class MoveReason {
    none,
    trigger,   // as its folder's policy says
    pressure,  // fast storage fills up
    age,       // it has waited for the longest time that a file may
    job_end,   // the job ends, or there would soon be no time left to move everything
    asked,     // a user or a program waits for it
};

// A file whose replica has bytes that the parallel file system lacks. Times are CLOCK_MONOTONIC.
struct MoveCandidate {
    std::int64_t bytes = 0;       // to be moved
    std::int64_t dirtied_ns = 0;  // when it was first written to since it was moved last
    std::int64_t written_ns = 0;  // when it was written to last
    std::int64_t retry_ns = 0;    // no attempt before this time, since the last one failed
    bool open = false;            // a program has it open for writing
    bool asked = false;
    bool under_way = false;  // it is being moved
    MoveTrigger trigger = MoveTrigger::at_close;
    std::int64_t idle_ns = 0;  // as in FolderPolicy
    std::int64_t size_bytes = 0;
};

struct MoveSituation {
    std::int64_t now_ns = 0;
    // No file waits for longer, whatever its policy says, but those of `manual`. 0: no limit.
    std::int64_t age_max_ns = 0;
    bool pressed = false;   // more than high_bytes of fast storage are used
    bool job_ends = false;  // the job has ended, or MoveDeadline has passed
};

[[nodiscard]] MoveReason why_to_move(const MoveCandidate& candidate,
                                     const MoveSituation& situation) noexcept;

struct MoveChoice {
    std::size_t candidate = 0;
    MoveReason why = MoveReason::none;
    bool operator==(const MoveChoice&) const noexcept = default;
};
// The candidate with the most urgent reason. Of several, under pressure the largest, which gives
// most room; else the one that has waited longest, so that none is passed over for ever. nullopt:
// nothing is to be moved now.
[[nodiscard]] std::optional<MoveChoice> next_to_move(std::span<const MoveCandidate> candidates,
                                                     const MoveSituation& situation) noexcept;

// Decides when everything has to be moved since the job ends: early enough for the slowest rate
// that was seen lately, with a margin.
class MoveDeadline {
public:
    static constexpr std::int64_t never = 0;
    // Rates that are remembered, and the bytes that make a move tell one.
    static constexpr std::size_t rates_max = 8;
    static constexpr std::int64_t rated_bytes = std::int64_t{16} << 20;
    // Assumed until the first move: slow enough to be on the safe side on a loaded file system.
    static constexpr double assumed_byte_ns = 10;  // 100 MB/s

    // `end_ns`: when the job ends, by the clock of `now_ns` below, or never. `margin_ns`: how long
    // before that everything is to be moved.
    MoveDeadline(std::int64_t end_ns, std::int64_t margin_ns) noexcept
        : end_ns_{end_ns}, margin_ns_{margin_ns} {}

    // A move of `bytes` bytes took `took_ns`.
    void record_move(std::int64_t bytes, std::int64_t took_ns) noexcept;
    // When moving must begin for `waiting` bytes to be safe in time; INT64_MAX: the job has no end.
    [[nodiscard]] std::int64_t latest_begin_ns(std::int64_t waiting) const noexcept;
    [[nodiscard]] bool passed(std::int64_t now_ns, std::int64_t waiting) const noexcept {
        return now_ns >= latest_begin_ns(waiting);
    }

private:
    std::int64_t end_ns_;
    std::int64_t margin_ns_;
    std::array<double, rates_max> byte_ns_{};  // of the last moves, in a ring
    std::size_t count_ = 0;
};

}  // namespace forebay::tier
