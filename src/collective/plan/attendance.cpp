// The transitions of the attendance word, and the costs from which the patience follows.
#include "collective/plan/attendance.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::plan {

namespace {

// Estimated cost of each piece beyond copying it, in nanoseconds: a write makes an entry in the log
// and an extent in the index; a read by one rank alone also reads the bytes between its pieces,
// which the other ranks read as well.
constexpr std::int64_t piece_ns = 200;
// In bytes. Longer pieces are deposited as fast as windows are, so an exchange gains nothing.
constexpr std::int64_t long_bytes = 8 << 10;
constexpr std::int64_t longest_ns = 2'000'000;
// A rank without bytes waits this long, in nanoseconds: it loses little, and the others need it.
constexpr std::int64_t idle_ns = 200'000;

// Whether `call` is after `than`; the numbers wrap around (serial number arithmetic).
bool is_newer(std::uint32_t call, std::uint32_t than) noexcept {
    const std::uint32_t ahead = (call - than) % CallAttendance::calls;
    return ahead > 0 && ahead < CallAttendance::calls / 2;
}

}  // namespace

std::uint64_t packed(const CallAttendance& one) noexcept {
    return std::uint64_t{one.file % CallAttendance::files} << 48U |
           std::uint64_t{one.call % CallAttendance::calls} << 24U |
           std::uint64_t{one.arrived & CallAttendance::ranks_max} << 4U |
           static_cast<std::uint64_t>(one.meeting);
}

CallAttendance unpacked(std::uint64_t word) noexcept {
    return {.file = static_cast<std::uint32_t>(word >> 48U),
            .call = static_cast<std::uint32_t>(word >> 24U) % CallAttendance::calls,
            .arrived = static_cast<std::uint32_t>(word >> 4U) & CallAttendance::ranks_max,
            .meeting = static_cast<MeetingKind>(word & 15U)};
}

std::optional<CallAttendance> with_me(const CallAttendance& before,
                                      const RankArrival& me) noexcept {
    CallAttendance now{.file = me.file, .call = me.call, .meeting = MeetingKind::open};
    if (before.file == me.file && before.call == me.call) {
        if (before.meeting != MeetingKind::open) {
            return std::nullopt;
        }
        now.arrived = before.arrived;
    } else if (before.file == me.file ? is_newer(before.call, me.call)
                                      : before.meeting == MeetingKind::open) {
        return std::nullopt;  // others are ahead, or an open call of another file uses the word
    }
    now.arrived += 1;
    now.meeting = now.arrived == me.ranks ? MeetingKind::together : MeetingKind::open;
    return now;
}

MeetingKind of_call(const CallAttendance& now, const RankArrival& me) noexcept {
    return now.file == me.file && now.call == me.call ? now.meeting : MeetingKind::alone;
}

CallAttendance given_up(CallAttendance now) noexcept {
    expects(now.meeting == MeetingKind::open, "a call that is made together is not given up");
    now.meeting = MeetingKind::alone;
    return now;
}

std::int64_t patience_ns(const Summary& asked, std::int64_t memory_piece) noexcept {
    if (asked.empty()) {
        return idle_ns;
    }
    const std::int64_t piece =
        std::max<std::int64_t>(std::min(asked.shortest_piece, memory_piece), 1);
    if (piece >= long_bytes) {
        return 0;
    }
    return std::min(asked.bytes / piece * piece_ns, longest_ns);
}

}  // namespace forebay::plan
