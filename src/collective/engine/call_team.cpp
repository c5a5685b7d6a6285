// Meetings of ranks. On one node the last to arrive publishes, so that nobody has to be woken for
// it; with several nodes the leaders exchange, and each publishes on its node.
#include "collective/engine/call_team.hpp"

#include <algorithm>

namespace forebay::engine {

CallTeam::CallTeam(ports::Communicator& communicator, const ports::TimeSource& clock,
                   ports::Imagined* imagined)
    : communicator_{communicator},
      clock_{clock},
      imagined_{imagined},
      place_{communicator.place()},
      node_segment_{communicator.node_memory(), place_} {
    // Only leaders gather from nodes: nothing here grows with nodes on every rank.
    if (place_.leader() && place_.nodes > 1) {
        gathered_votes_.resize(static_cast<std::size_t>(place_.nodes));
    }
}

bool CallTeam::attend() {
    bool any = false;
    for (ProgressTask* task : tasks_) {
        any = task->attend() || any;
    }
    return any;
}

bool CallTeam::settled() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->settled(); });
}

bool CallTeam::keeps_up() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->keeps_up(); });
}

bool CallTeam::through() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->through(); });
}

void CallTeam::meet() {
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

// A rank with tasks never sleeps long: what it is responsible for may become ready at any time.
// It sleeps on what its task waits for rather than on what it waits for itself, since the former
// nearly always comes first.
void CallTeam::wait(const ports::Word& word, std::uint32_t seen) {
    const std::int64_t begin = clock_.now_ns();
    if (tasks_.empty()) {
        communicator_.wait(word, seen);
    } else if (tasks_.size() > 1 || !tasks_.front()->block()) {
        const ports::Word* concern = tasks_.front()->concern();
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

// All of a node's aggregators need the rank that forwards its tokens: any of their words, and the
// one that it waits for itself, may be the next to change. Each change rings the bell.
void CallTeam::wait_for_bell(const ports::Word& word, std::uint32_t seen) {
    const ports::Word& bell = node_segment_.header().leader_bell;
    const std::uint32_t now = bell.load(std::memory_order_acquire);
    if (word.load(std::memory_order_acquire) == seen && !attend()) {
        communicator_.wait_briefly(bell, now);
    }
}

void CallTeam::wake(ports::Word& word) {
    communicator_.wake(word);
    if (turns_ && !place_.leader()) {
        ports::Word& bell = node_segment_.header().leader_bell;
        bell.fetch_add(1, std::memory_order_release);
        communicator_.wake(bell);
    }
}

void CallTeam::wait_briefly(const ports::Word& word, std::uint32_t seen) {
    const std::int64_t begin = clock_.now_ns();
    communicator_.wait_briefly(word, seen);
    times_.wait += clock_.now_ns() - begin;
}

template <class Publish>
void CallTeam::meet(Publish publish) {
    SegmentHeader& header = node_segment_.header();
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

plan::AgreementVote CallTeam::agree(VoteMoment moment, const plan::AgreementVote& mine) {
    node_segment_.slot(place_.local).vote(moment) = mine;
    meet([this, moment] { publish_votes(moment); });
    return node_segment_.header().verdict;
}

plan::BlockClaims CallTeam::agree(const plan::BlockClaims& mine, std::int64_t blocks_max) {
    node_segment_.slot(place_.local).claims = mine;
    meet([this, blocks_max] { publish_claims(blocks_max); });
    return node_segment_.header().round;
}

template <class Each>
Result<std::span<const Each>> CallTeam::of_all_nodes(const Each& mine, std::vector<Each>& room) {
    const std::span<Each> all{room.data(), static_cast<std::size_t>(place_.nodes)};
    const auto done =
        communicator_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(all));
    if (!done) {
        return failure(done.error());
    }
    return all;
}

void CallTeam::publish_votes(VoteMoment moment) {
    plan::AgreementVote all;
    for (std::int32_t i = 0; i < place_.locals; ++i) {
        all = plan::merge(all, node_segment_.slot(LocalRank{i}).vote(moment));
    }
    if (moment == VoteMoment::start) {
        node_segment_.node(place_.node) = all.summary;
        for (std::int32_t i = 0; turns_ && i < place_.locals; ++i) {
            node_segment_.turns(i).reset();
        }
    }
    if (place_.nodes > 1) {
        const auto nodes = of_all_nodes(all, gathered_votes_);
        all = plan::AgreementVote{};
        for (std::int32_t n = 0; nodes && n < place_.nodes; ++n) {
            const plan::AgreementVote& node = (*nodes)[static_cast<std::size_t>(n)];
            if (moment == VoteMoment::start) {
                node_segment_.node(NodeId{n}) = node.summary;
            }
            all = plan::merge(all, node);
        }
        if (!nodes) {
            all.failure = plan::FirstFailure{0, static_cast<std::uint32_t>(nodes.error().code),
                                             nodes.error().system};
        }
    }
    node_segment_.header().verdict = all;
    ++node_segment_.header().calls;
}

void CallTeam::publish_claims(std::int64_t blocks_max) {
    const auto locals = static_cast<std::size_t>(place_.locals);
    // Taken by who publishes, when sparse data is met for the first time: 1 KiB a node is much
    // for a file that never has any.
    gathered_claims_.resize(std::max(locals, static_cast<std::size_t>(place_.nodes)));
    for (std::size_t i = 0; i < locals; ++i) {
        gathered_claims_[i] = node_segment_.slot(LocalRank{static_cast<std::int32_t>(i)}).claims;
    }
    plan::BlockClaims all = plan::merge({gathered_claims_.data(), locals}, blocks_max);
    if (place_.nodes > 1) {
        const auto nodes = of_all_nodes(all, gathered_claims_);
        // Without messages the rounds cannot go on: end them; the end's agreement says why.
        all = nodes ? plan::merge(*nodes, blocks_max) : plan::BlockClaims{};
    }
    node_segment_.header().round = all;
}

}  // namespace forebay::engine
