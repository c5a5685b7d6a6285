// The state machine of one station in the token ring.
#include "collective/plan/turns.hpp"

#include "foundation/base/contracts.hpp"

namespace forebay::plan {

Station::Station(std::int32_t number, std::int32_t stations, const Throttle& throttle)
    : number_{number}, stations_{stations}, has_token_{number == 0} {
    token_.throttle = throttle;
}

void Station::know(std::int64_t rounds) {
    expects(rounds >= rounds_, "rounds do not become unknown again");
    rounds_ = rounds;
    go_on();
}

void Station::filled(std::int64_t windows) {
    expects(windows >= filled_, "a window does not become empty again");
    filled_ = windows;
    go_on();
}

void Station::ended(const ServedRequest& service) { absorb(service); }

void Station::take(const RingMessage& message) {
    if (message.kind == RingMessage::Kind::notice) {
        absorb(message.service);
        return;
    }
    expects(!has_token_, "there is one token");
    has_token_ = true;
    token_ = message.token;
    go_on();
}

// A notice ends at the token. A station that does not have the token passes the notice on to the
// next station.
void Station::absorb(const ServedRequest& service) {
    if (!has_token_) {
        RingMessage notice;
        notice.kind = RingMessage::Kind::notice;
        notice.service = service;
        out_.push_back(notice);
        return;
    }
    expects(token_.in_flight > 0, "only what was started ends");
    --token_.in_flight;
    if (service.bytes > 0) {
        token_.throttle.observe(service);
    }
    go_on();
}

// Does what the token allows now: starts this station's next window, passes the token on, or closes
// the known rounds.
void Station::go_on() {
    while (has_token_) {
        if (token_.closing > 0) {
            close();
            return;
        }
        const std::int64_t round = token_.next / stations_;
        if (round == rounds_) {  // all known rounds have started; station 0 closes them
            if (number_ != 0 || closed_ == rounds_ || token_.in_flight > 0) {
                return;
            }
            token_.closing = stations_;
            continue;
        }
        if (token_.next % stations_ != number_ || filled_ <= round ||
            token_.in_flight >= token_.throttle.limit()) {
            return;
        }
        started_ = round + 1;
        in_flight_[static_cast<std::size_t>(round) % remembered] = ++token_.in_flight;
        ++token_.next;
        pass();
    }
}

// `closed_` follows from the token, which says which rounds it closes; this station may know of
// more rounds by now.
void Station::close() {
    closed_ = token_.next / stations_;
    if (--token_.closing > 0) {
        pass();
        return;
    }
    // The last station passes the token to station 0, where it rests.
    if (number_ != 0) {
        pass();
    }
}

void Station::pass() {
    if (stations_ == 1) {
        return;
    }
    RingMessage message;
    message.token = token_;
    out_.push_back(message);
    has_token_ = false;
}

}  // namespace forebay::plan
