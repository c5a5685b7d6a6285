// Turns at a target (OST) that several aggregators share: a token ring, without a central lock
// manager. The aggregators are *stations* in a ring, in stripe order. One *token* per target goes
// round. A station that has the token starts its next window, once that window is ready and fewer
// than k windows are in flight at the target, and passes the token on. (A window is ready for a
// write when ranks have filled it, and for a read when its buffer is free.) When a window has been
// written or read, a *notice* follows the token along the ring until it reaches the token. When the
// windows of all known rounds have started and all their notices have reached the token, the token
// goes round once more: it tells the stations that nothing is under way.
//
//   token:   station 0 ──▶ station 1 ──▶ station 2 ──▶ station 0 …
//   notice:          ╰── follows ──▶ ─╯
//
// A window's number is round · stations + station.
//
// There is no deadlock: a token waits at a station only for the station's window to be ready, which
// depends on earlier rounds alone, or for a notice, which is sent when a started window ends and
// always moves towards the token. Pure: events go in, messages and started windows come out;
// collective/engine/token_forwarder carries them out.
#pragma once

#include "storage/policy/throttle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::plan {

struct TurnToken {
    std::int64_t next = 0;  // number of the window that starts next
    // Windows that have started at the target and whose end the token does not know yet.
    std::int32_t in_flight = 0;
    std::int32_t closing = 0;  // stations that still have to see that all is done; 0: not closing
    Throttle throttle;
};

// A message from a station to the next one in the ring. Plain bytes.
struct RingMessage {
    enum class Kind : std::uint32_t { token, notice };
    Kind kind = Kind::token;
    TurnToken token;
    ServedRequest service;  // notice: how the target served the window that ended
};

class Station {
public:
    static constexpr std::size_t remembered = 64;  // maximum of a station's windows under way

    // `stations`: the size of the ring. Station 0 has the token at first.
    Station(std::int32_t number, std::int32_t stations, const Throttle& throttle);

    // Events. `rounds` rounds are known now; the number never falls. This may be called at any
    // time, also while the token is closing earlier rounds.
    void know(std::int64_t rounds);
    void filled(std::int64_t windows);  // this station's windows [0, windows) are ready or empty
    // One of the windows that this station started has ended.
    void ended(const ServedRequest& service);
    void take(const RingMessage& message);  // a message from the station before this one

    // Actions. The number of windows that this station has started so far, and the messages that
    // are to be sent to the next station.
    [[nodiscard]] std::int64_t started() const noexcept { return started_; }
    // The number of windows in flight at the target when this station's window of `round` started,
    // including that window. Contract: `round` is one of the last `remembered`.
    [[nodiscard]] std::int32_t in_flight(std::int64_t round) const noexcept {
        return in_flight_[static_cast<std::size_t>(round) % remembered];
    }
    [[nodiscard]] std::vector<RingMessage>& out() noexcept { return out_; }
    // Whether all rounds that this station knows are done at all stations, so that no message will
    // come before some station learns of another round.
    [[nodiscard]] bool closed() const noexcept {
        return closed_ == rounds_ && (number_ != 0 || has_token_);
    }
    // Contract: this is station 0, and it is closed.
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
