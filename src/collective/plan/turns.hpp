// Turns at a target that several aggregators share, without a central point. The aggregators sit in
// a ring, in stripe order. One *token* per target goes round: whoever has it and has its next
// window filled starts that window if fewer than k are in flight, and passes the token on. When a
// window has been written, a *notice* follows the token along the ring until it finds it. After the
// last known round the token goes round once more, when all notices have come: then nothing is
// under way.
//
//   token:   station 0 ──▶ station 1 ──▶ station 2 ──▶ station 0 …
//   notice:          ╰── follows ──▶ ─╯
//
// A window's number is round · stations + station.
//
// Why nobody waits for ever: the token waits at a station for its window to be filled (which
// depends on earlier rounds only), or for a notice (sent when a started window ends, and always
// moving towards the token). Pure: events go in, what to do comes out;
// collective/engine/token_forwarder carries it out.
#pragma once

#include "storage/policy/throttle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::plan {

struct TurnToken {
    std::int64_t next = 0;  // number of the window that is started next
    std::int32_t in_flight = 0;
    std::int32_t closing = 0;  // stations that still have to see that all is done; 0: not closing
    Throttle throttle;
};

// A message from a station to the next one. Plain bytes.
struct RingMessage {
    enum class Kind : std::uint32_t { token, notice };
    Kind kind = Kind::token;
    TurnToken token;
    ServedRequest service;  // of the window that ended
};

class Station {
public:
    static constexpr std::size_t remembered = 64;  // windows of a station under way, at most

    // `stations` in the ring; number 0 has the token at first.
    Station(std::int32_t number, std::int32_t stations, const Throttle& throttle);

    // Events. So many rounds are known now, not fewer than before: at any time, also while the
    // token closes earlier ones.
    void know(std::int64_t rounds);
    void filled(std::int64_t windows);  // so many of this station's windows are ready or empty
    void ended(const ServedRequest& service);  // one window that was started has ended
    void take(const RingMessage& message);     // from the station before

    // Actions: windows that have been started so far, of this station; and messages to the next.
    [[nodiscard]] std::int64_t started() const noexcept { return started_; }
    // In flight at the target when this station's window of `round` was started, itself included.
    // Contract: one of the last `remembered`.
    [[nodiscard]] std::int32_t in_flight(std::int64_t round) const noexcept {
        return in_flight_[static_cast<std::size_t>(round) % remembered];
    }
    [[nodiscard]] std::vector<RingMessage>& out() noexcept { return out_; }
    // Every round that is known here is done at all stations, and no message will come before some
    // station knows more.
    [[nodiscard]] bool closed() const noexcept {
        return closed_ == rounds_ && (number_ != 0 || has_token_);
    }
    // Only at station 0, when closed.
    [[nodiscard]] const Throttle& throttle() const noexcept { return token_.throttle; }

private:
    void go_on();
    void pass();
    void absorb(const ServedRequest& service);
    void close();

    std::int32_t number_;
    std::int32_t stations_;
    bool has_token_ = false;
    TurnToken token_;
    std::int64_t rounds_ = 0;
    std::int64_t closed_ = 0;
    std::int64_t filled_ = 0;
    std::int64_t started_ = 0;
    std::array<std::int32_t, remembered> in_flight_{};
    std::vector<RingMessage> out_;
};

}  // namespace forebay::plan
