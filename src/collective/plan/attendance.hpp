// Whether all ranks of a node have come to a non-blocking collective call. None of them may wait
// for long, and all must come to the same answer: a word that all of them change, by compare and
// swap.
//
// A call that is made together ends for no rank before all of them have seen that it is, since the
// exchange needs them all; so nobody writes over the word before.
//
//   first rank ──▶ open ──▶ the last of all ranks comes ──▶ together
//                   └─────▶ one of them gives up ─────────▶ alone
#pragma once

#include "collective/plan/summary.hpp"

#include <cstdint>
#include <optional>

namespace forebay::plan {

enum class MeetingKind : std::uint32_t { alone = 0, open = 1, together = 2 };

// The word, taken apart. All zero: nobody ever came.
struct CallAttendance {
    static constexpr std::uint32_t files = std::uint32_t{1} << 16;
    static constexpr std::uint32_t calls = std::uint32_t{1} << 24;
    static constexpr std::uint32_t ranks_max = (std::uint32_t{1} << 20) - 1;

    std::uint32_t file = 0;     // below `files`
    std::uint32_t call = 0;     // of the file, below `calls`, from where they begin anew
    std::uint32_t arrived = 0;  // ranks
    MeetingKind meeting = MeetingKind::alone;

    bool operator==(const CallAttendance&) const noexcept = default;
};
[[nodiscard]] std::uint64_t packed(const CallAttendance& one) noexcept;
[[nodiscard]] CallAttendance unpacked(std::uint64_t word) noexcept;

// Which call a rank comes to, and how many ranks it needs.
struct RankArrival {
    std::uint32_t file = 0;
    std::uint32_t call = 0;
    std::uint32_t ranks = 1;
};
// With this rank; nullopt: it need not wait, since the call is not made together.
[[nodiscard]] std::optional<CallAttendance> with_me(const CallAttendance& before,
                                                    const RankArrival& me) noexcept;
// The state of a call to which this rank has come.
[[nodiscard]] MeetingKind of_call(const CallAttendance& now, const RankArrival& me) noexcept;
// Contract: it is open.
[[nodiscard]] CallAttendance given_up(CallAttendance now) noexcept;

// For how long a rank may wait for the others: as long as it takes more to move the pieces one
// by one, so that waiting in vain costs no more than that again. 0: there is nothing to be gained.
// `memory_piece`: the shortest one of its memory, in bytes.
[[nodiscard]] std::int64_t patience_ns(const Summary& asked, std::int64_t memory_piece) noexcept;

}  // namespace forebay::plan
