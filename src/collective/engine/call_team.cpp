// Meetings of ranks. On one node the last to arrive publishes, so that nobody has to be woken for
// it; with several nodes the leaders exchange, and each publishes on its node.
#include "collective/engine/call_team.hpp"

#include <algorithm>

namespace forebay::engine {

Crew::Crew(ports::Communicator& communicator, const ports::Clock& clock, ports::Imagined* imagined)
    : communicator_{communicator},
      clock_{clock},
      imagined_{imagined},
      place_{communicator.place()},
      lane_{communicator.node_memory(), place_} {
    // Only leaders gather from nodes: nothing here grows with nodes on every rank.
    if (place_.leader() && place_.nodes > 1) {
        gathered_ballots_.resize(static_cast<std::size_t>(place_.nodes));
    }
}

bool Crew::attend() {
    bool any = false;
    for (Duty* duty : duties_) {
        any = duty->attend() || any;
    }
    return any;
}

bool Crew::settled() {
    return std::all_of(duties_.begin(), duties_.end(), [](Duty* duty) { return duty->settled(); });
}

bool Crew::keeps_up() {
    return std::all_of(duties_.begin(), duties_.end(), [](Duty* duty) { return duty->keeps_up(); });
}

bool Crew::through() {
    return std::all_of(duties_.begin(), duties_.end(), [](Duty* duty) { return duty->through(); });
}

void Crew::meet() {
    meet([this] {
        if (place_.nodes == 1) {
            return;
        }
        constexpr std::byte here{1};
        std::vector<std::byte> all(static_cast<std::size_t>(place_.nodes));
        // An error shows at the end's agreement, which goes the same way.
        static_cast<void>(communicator_.all_gather({&here, 1}, all));
    });
}

// A rank with duties never sleeps long: what it is responsible for may become ready at any time.
// It sleeps on what its duty waits for rather than on what it waits for itself, since the former
// nearly always comes first.
void Crew::wait(const ports::Word& word, std::uint32_t seen) {
    const std::int64_t begin = clock_.now_ns();
    if (duties_.empty()) {
        communicator_.wait(word, seen);
    } else if (duties_.size() > 1 || !duties_.front()->block()) {
        const ports::Word* concern = duties_.front()->concern();
        if (turns_ && place_.leader()) {
            wait_for_bell(word, seen);
        } else if (concern == nullptr) {
            communicator_.wait_briefly(word, seen);
        } else {
            const std::uint32_t now = concern->load(std::memory_order_acquire);
            if (!attend()) {
                communicator_.wait_briefly(*concern, now);
            }
        }
    }
    times_.wait += clock_.now_ns() - begin;
}

// Who carries a node's turns is needed by all of its aggregators: any of their words, and the one
// that it waits for itself, may be the next to change. Each change rings the bell.
void Crew::wait_for_bell(const ports::Word& word, std::uint32_t seen) {
    const ports::Word& bell = lane_.header().leader_bell;
    const std::uint32_t now = bell.load(std::memory_order_acquire);
    if (word.load(std::memory_order_acquire) == seen && !attend()) {
        communicator_.wait_briefly(bell, now);
    }
}

void Crew::wake(ports::Word& word) {
    communicator_.wake(word);
    if (turns_ && !place_.leader()) {
        ports::Word& bell = lane_.header().leader_bell;
        bell.fetch_add(1, std::memory_order_release);
        communicator_.wake(bell);
    }
}

void Crew::wait_briefly(const ports::Word& word, std::uint32_t seen) {
    const std::int64_t begin = clock_.now_ns();
    communicator_.wait_briefly(word, seen);
    times_.wait += clock_.now_ns() - begin;
}

template <class Publish>
void Crew::meet(Publish publish) {
    Header& header = lane_.header();
    const std::uint32_t generation = header.generation.load(std::memory_order_acquire);
    const auto locals = static_cast<std::uint32_t>(place_.locals);
    const bool last = header.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == locals;
    const bool publishes = place_.nodes == 1 ? last : place_.leader();
    if (publishes) {
        wait_until(header.arrived,
                   [&] { return header.arrived.load(std::memory_order_acquire) == locals; });
        // Leaders are about to block on one another: first everything under way must be through.
        attend_until([this] { return settled(); });
        publish();
        header.arrived.store(0, std::memory_order_relaxed);
        header.generation.store(generation + 1, std::memory_order_release);
        wake(header.generation);
        return;
    }
    if (last) {
        wake(header.arrived);
    }
    wait_until(header.generation,
               [&] { return header.generation.load(std::memory_order_acquire) != generation; });
}

plan::Ballot Crew::agree(Moment moment, const plan::Ballot& mine) {
    lane_.slot(place_.local).ballot(moment) = mine;
    meet([this, moment] { publish_ballots(moment); });
    return lane_.header().verdict;
}

plan::Claims Crew::agree(const plan::Claims& mine, std::int64_t blocks_max) {
    lane_.slot(place_.local).claims = mine;
    meet([this, blocks_max] { publish_claims(blocks_max); });
    return lane_.header().round;
}

template <class Each>
Result<std::span<const Each>> Crew::of_all_nodes(const Each& mine, std::vector<Each>& room) {
    const std::span<Each> all{room.data(), static_cast<std::size_t>(place_.nodes)};
    const auto done =
        communicator_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(all));
    if (!done) {
        return failure(done.error());
    }
    return all;
}

void Crew::publish_ballots(Moment moment) {
    plan::Ballot all;
    for (std::int32_t i = 0; i < place_.locals; ++i) {
        all = plan::merge(all, lane_.slot(LocalRank{i}).ballot(moment));
    }
    if (moment == Moment::start) {
        lane_.node(place_.node) = all.summary;
        for (std::int32_t i = 0; turns_ && i < place_.locals; ++i) {
            lane_.turns(i).reset();
        }
    }
    if (place_.nodes > 1) {
        const auto nodes = of_all_nodes(all, gathered_ballots_);
        all = plan::Ballot{};
        for (std::int32_t n = 0; nodes && n < place_.nodes; ++n) {
            const plan::Ballot& node = (*nodes)[static_cast<std::size_t>(n)];
            if (moment == Moment::start) {
                lane_.node(NodeId{n}) = node.summary;
            }
            all = plan::merge(all, node);
        }
        if (!nodes) {
            all.failure = plan::Failure{0, static_cast<std::uint32_t>(nodes.error().code),
                                        nodes.error().system};
        }
    }
    lane_.header().verdict = all;
    ++lane_.header().calls;
}

void Crew::publish_claims(std::int64_t blocks_max) {
    const auto locals = static_cast<std::size_t>(place_.locals);
    // Taken by who publishes, when sparse data is met for the first time: 1 KiB a node is much
    // for a file that never has any.
    gathered_claims_.resize(std::max(locals, static_cast<std::size_t>(place_.nodes)));
    for (std::size_t i = 0; i < locals; ++i) {
        gathered_claims_[i] = lane_.slot(LocalRank{static_cast<std::int32_t>(i)}).claims;
    }
    plan::Claims all = plan::merge({gathered_claims_.data(), locals}, blocks_max);
    if (place_.nodes > 1) {
        const auto nodes = of_all_nodes(all, gathered_claims_);
        // Without messages the rounds cannot go on: end them; the end's agreement says why.
        all = nodes ? plan::merge(*nodes, blocks_max) : plan::Claims{};
    }
    lane_.header().round = all;
}

}  // namespace forebay::engine
