// Between two stations on one node, passing a message is a function call; between nodes, the
// leaders send it.
#include "collective/engine/token_forwarder.hpp"

#include <algorithm>

namespace forebay::engine {

namespace {

constexpr int first_tag = 16;  // the tag for aggregator n, the receiver, is first_tag + n
constexpr std::int32_t aggregators_max = 32767 - first_tag;

int tag_of(AggregatorId id) noexcept { return first_tag + id.value(); }

}  // namespace

TokenForwarder::TokenForwarder(CallTeam& team, const CallRounds& rounds,
                               std::vector<plan::Throttle>& throttles)
    : team_{team}, rounds_{rounds}, throttles_{throttles} {
    expects(rounds.aggregators() <= aggregators_max, "every aggregator has a tag");
    for (std::int32_t i = 0; i < rounds.aggregators(); ++i) {
        const AggregatorId id{i};
        const plan::Aggregator& one = rounds.aggregator(id);
        if (one.node != team.place().node) {
            continue;
        }
        const plan::Throttle& throttle = throttles[static_cast<std::size_t>(one.first_target)];
        chairs_.push_back(Chair{plan::Station{one.share, rounds.plan().shares, throttle},
                                id,
                                &team.node_segment().turns(one.on_node),
                                rounds.aggregator(beside(id, -1)).node,
                                rounds.aggregator(beside(id, 1)).node,
                                0,
                                0,
                                std::nullopt,
                                {}});
    }
}

TokenForwarder::~TokenForwarder() {
    for (const Chair& chair : chairs_) {
        const plan::Aggregator& one = rounds_.aggregator(chair.id);
        if (one.share == 0) {
            throttles_[static_cast<std::size_t>(one.first_target)] = chair.station.throttle();
        }
    }
}

// The aggregator that is `shares` stations further on in the ring of its target.
AggregatorId TokenForwarder::beside(AggregatorId id, std::int32_t shares) const noexcept {
    const std::int32_t all = rounds_.aggregators();
    return AggregatorId{(id.value() + shares * (all / rounds_.plan().shares) + all) % all};
}

TokenForwarder::Chair& TokenForwarder::chair_of(AggregatorId id) {
    const auto found = std::ranges::find(chairs_, id, &Chair::id);
    expects(found != chairs_.end(), "the aggregator is on this node");
    return *found;
}

bool TokenForwarder::messages_done() {
    for (Chair& chair : chairs_) {
        chair.station.know(rounds_.known());
    }
    return sent_.empty() && std::ranges::all_of(chairs_, [](Chair& chair) {
               return chair.station.closed() && chair.station.out().empty();
           });
}

bool TokenForwarder::attend() {
    bool any = std::erase_if(sent_, [this](const Sent& one) {
                   return team_.communicator().done(one.ticket).has_value();
               }) > 0;
    for (Chair& chair : chairs_) {
        any = receive(chair) || any;
        any = take_message(chair) || any;
    }
    for (bool passed = true; passed;) {
        passed = false;
        for (Chair& chair : chairs_) {
            passed = pass_on(chair) || passed;
        }
        any = any || passed;
    }
    for (Chair& chair : chairs_) {
        any = grant(chair) || any;
    }
    return any;
}

// Tells the station which windows of its aggregator are ready, and which have ended.
bool TokenForwarder::receive(Chair& chair) {
    chair.station.know(rounds_.known());
    chair.station.filled(chair.block->filled.load(std::memory_order_acquire));
    const std::int64_t ended = chair.block->ended.load(std::memory_order_acquire);
    const bool any = chair.ended < ended;
    for (; chair.ended < ended; ++chair.ended) {
        const auto place = static_cast<std::size_t>(chair.ended) % plan::Station::remembered;
        plan::ServedRequest service = chair.block->services[place];
        service.in_flight = chair.station.in_flight(chair.ended);
        chair.station.ended(service);
    }
    return any;
}

// Receives what the previous station has sent, if that is on another node.
bool TokenForwarder::take_message(Chair& chair) {
    if (chair.before == team_.place().node) {
        return false;
    }
    bool any = false;
    while (true) {
        if (!chair.coming) {
            if (chair.station.closed()) {
                return any;
            }
            chair.coming =
                team_.communicator().receive(chair.before, tag_of(chair.id),
                                             std::as_writable_bytes(std::span{&chair.message, 1}));
        }
        if (!team_.communicator().done(*chair.coming)) {
            return any;
        }
        chair.coming.reset();
        chair.station.take(chair.message);
        any = true;
    }
}

// Passes on what the station has to say to the next station.
bool TokenForwarder::pass_on(Chair& chair) {
    if (chair.station.out().empty()) {
        return false;
    }
    std::vector<plan::RingMessage> messages;
    messages.swap(chair.station.out());
    const AggregatorId next = beside(chair.id, 1);
    for (const plan::RingMessage& message : messages) {
        if (chair.after == team_.place().node) {
            chair_of(next).station.take(message);
            continue;
        }
        Sent& one = sent_.emplace_back(Sent{message, 0});
        one.ticket = team_.communicator().send(chair.after, tag_of(next),
                                               std::as_bytes(std::span{&one.message, 1}));
    }
    return true;
}

// Tells the aggregator which of its windows have started, so that they may go to storage.
bool TokenForwarder::grant(Chair& chair) {
    if (chair.granted == chair.station.started()) {
        return false;
    }
    chair.granted = chair.station.started();
    chair.block->started.store(static_cast<std::uint32_t>(chair.granted),
                               std::memory_order_release);
    team_.communicator().wake(chair.block->started);
    return true;
}

}  // namespace forebay::engine
