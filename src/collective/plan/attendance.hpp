// Attendance of a non-blocking collective call: whether all ranks of a node have entered it. No
// rank may wait for long, and all must come to the same answer. They find it in one word of shared
// memory, which each rank changes by compare-and-swap.
//
// A call that is made together ends for no rank before all ranks have seen that it is made
// together, since the exchange needs them all. So no rank overwrites the word too early.
//
//   first rank ──▶ open ──▶ the last of all ranks comes ──▶ together
//                   └─────▶ one of them gives up ─────────▶ alone
#pragma once

#include "collective/plan/summary.hpp"

#include <cstdint>
#include <optional>

namespace forebay::plan {

enum class MeetingKind : std::uint32_t { alone = 0, open = 1, together = 2 };

// The fields of the word. All zero means that no rank has ever come.
struct CallAttendance {
    static constexpr std::uint32_t files = std::uint32_t{1} << 16;
    static constexpr std::uint32_t calls = std::uint32_t{1} << 24;
    static constexpr std::uint32_t ranks_max = (std::uint32_t{1} << 20) - 1;

    std::uint32_t file = 0;     // below `files`
    std::uint32_t call = 0;     // number of the file's call, modulo `calls`
    std::uint32_t arrived = 0;  // number of ranks that have come
    MeetingKind meeting = MeetingKind::alone;

    bool operator==(const CallAttendance&) const noexcept = default;
};
[[nodiscard]] std::uint64_t packed(const CallAttendance& one) noexcept;
[[nodiscard]] CallAttendance unpacked(std::uint64_t word) noexcept;

// The arrival of one rank: the call that it comes to, and how many ranks that call needs.
struct RankArrival {
    std::uint32_t file = 0;
    std::uint32_t call = 0;
    std::uint32_t ranks = 1;
};
// The word after rank `me` has come; nullopt: the rank need not wait, since the call is not made
// together.
[[nodiscard]] std::optional<CallAttendance> with_me(const CallAttendance& before,
                                                    const RankArrival& me) noexcept;
// The state of the call to which rank `me` has come.
[[nodiscard]] MeetingKind of_call(const CallAttendance& now, const RankArrival& me) noexcept;
// The word after a rank has stopped waiting. Contract: the call is open.
[[nodiscard]] CallAttendance given_up(CallAttendance now) noexcept;

// How long a rank may wait for the others, in nanoseconds: the extra time that it takes to move the
// pieces one by one, so that waiting in vain costs no more than that again. 0: an exchange would
// gain nothing. `memory_piece`: the shortest contiguous piece of the rank's memory, in bytes.
[[nodiscard]] std::int64_t patience_ns(const Summary& asked, std::int64_t memory_piece) noexcept;

}  // namespace forebay::plan
