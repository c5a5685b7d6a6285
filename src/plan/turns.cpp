// A seat's part in the ring.
#include "plan/turns.hpp"

#include "base/contracts.hpp"

namespace forebay::plan {

Seat::Seat(std::int32_t number, std::int32_t seats, const Throttle& throttle)
    : number_{number}, seats_{seats}, has_pen_{number == 0} {
    pen_.throttle = throttle;
}

void Seat::know(std::int64_t rounds) {
    expects(rounds >= rounds_, "rounds do not become unknown again");
    rounds_ = rounds;
    go_on();
}

void Seat::filled(std::int64_t windows) {
    expects(windows >= filled_, "a window does not become empty again");
    filled_ = windows;
    go_on();
}

void Seat::ended(const Service& service) { absorb(service); }

void Seat::take(const TurnMessage& message) {
    if (message.kind == TurnMessage::Kind::notice) {
        absorb(message.service);
        return;
    }
    expects(!has_pen_, "there is one pen");
    has_pen_ = true;
    pen_ = message.pen;
    go_on();
}

// The pen takes a notice in; without it the notice goes on after it.
void Seat::absorb(const Service& service) {
    if (!has_pen_) {
        TurnMessage notice;
        notice.kind = TurnMessage::Kind::notice;
        notice.service = service;
        out_.push_back(notice);
        return;
    }
    expects(pen_.in_flight > 0, "only what was started ends");
    --pen_.in_flight;
    if (service.bytes > 0) {
        pen_.throttle.observe(service);
    }
    go_on();
}

void Seat::go_on() {
    while (has_pen_) {
        if (pen_.closing > 0) {
            close();
            return;
        }
        const std::int64_t round = pen_.next / seats_;
        if (round == rounds_) {  // seat 0: rounds end here
            if (number_ != 0 || closed_ == rounds_ || pen_.in_flight > 0) {
                return;
            }
            pen_.closing = seats_;
            continue;
        }
        if (pen_.next % seats_ != number_ || filled_ <= round ||
            pen_.in_flight >= pen_.throttle.limit()) {
            return;
        }
        started_ = round + 1;
        in_flight_[static_cast<std::size_t>(round) % remembered] = ++pen_.in_flight;
        ++pen_.next;
        pass();
    }
}

// The pen says which rounds it closes: this seat may know more by now.
void Seat::close() {
    closed_ = pen_.next / seats_;
    if (--pen_.closing > 0) {
        pass();
        return;
    }
    // The last seat hands the pen back to the first, where it rests.
    if (number_ != 0) {
        pass();
    }
}

void Seat::pass() {
    if (seats_ == 1) {
        return;
    }
    TurnMessage message;
    message.pen = pen_;
    out_.push_back(message);
    has_pen_ = false;
}

}  // namespace forebay::plan
