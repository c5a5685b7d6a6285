// Turns at a target that several aggregators share, without a central point. The aggregators sit in
// a ring, in stripe order. One *pen* per target goes round: whoever has it and has its next window
// filled starts that window if fewer than k are in flight, and passes the pen on. When a window has
// been written, a *notice* follows the pen along the ring until it finds it. After the last known
// round the pen goes round once more, when all notices have come: then nothing is under way.
//
//   pen:      seat 0 ──▶ seat 1 ──▶ seat 2 ──▶ seat 0 …     window number = round · seats + seat
//   notice:        ╰── follows ──▶ ─╯
//
// Why nobody waits for ever: the pen waits at a seat for its window to be filled (which depends on
// earlier rounds only), or for a notice (sent when a started window ends, and always moving towards
// the pen). Pure: events go in, what to do comes out; engine/turn_courier carries it out.
#pragma once

#include "plan/throttle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::plan {

struct Pen {
    std::int64_t next = 0;  // number of the window that is started next
    std::int32_t in_flight = 0;
    std::int32_t closing = 0;  // seats that still have to see that all is done; 0: not closing
    Throttle throttle;
};

// What goes from a seat to the next one. Plain bytes.
struct TurnMessage {
    enum class Kind : std::uint32_t { pen, notice };
    Kind kind = Kind::pen;
    Pen pen;
    Service service;  // of the window that ended
};

class Seat {
public:
    static constexpr std::size_t remembered = 64;  // windows of a seat under way, at most

    // `seats` in the ring; number 0 has the pen at first.
    Seat(std::int32_t number, std::int32_t seats, const Throttle& throttle);

    // Events. So many rounds are known now, not fewer than before: at any time, also while the pen
    // closes earlier ones.
    void know(std::int64_t rounds);
    void filled(std::int64_t windows);      // so many of this seat's windows are ready or empty
    void ended(const Service& service);     // one window that was started has ended
    void take(const TurnMessage& message);  // from the seat before

    // What to do: windows that have been started so far, of this seat; and messages to the next.
    [[nodiscard]] std::int64_t started() const noexcept { return started_; }
    // In flight at the target when this seat's window of `round` was started, itself included.
    // Contract: one of the last `remembered`.
    [[nodiscard]] std::int32_t in_flight(std::int64_t round) const noexcept {
        return in_flight_[static_cast<std::size_t>(round) % remembered];
    }
    [[nodiscard]] std::vector<TurnMessage>& out() noexcept { return out_; }
    // Every round that is known here is done at all seats, and no message will come before some
    // seat knows more.
    [[nodiscard]] bool closed() const noexcept {
        return closed_ == rounds_ && (number_ != 0 || has_pen_);
    }
    // Only at seat 0, when closed.
    [[nodiscard]] const Throttle& throttle() const noexcept { return pen_.throttle; }

private:
    void go_on();
    void pass();
    void absorb(const Service& service);
    void close();

    std::int32_t number_;
    std::int32_t seats_;
    bool has_pen_ = false;
    Pen pen_;
    std::int64_t rounds_ = 0;
    std::int64_t closed_ = 0;
    std::int64_t filled_ = 0;
    std::int64_t started_ = 0;
    std::array<std::int32_t, remembered> in_flight_{};
    std::vector<TurnMessage> out_;
};

}  // namespace forebay::plan
