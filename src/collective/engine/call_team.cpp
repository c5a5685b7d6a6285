// Barriers and all-reduces of the ranks. The ranks of a node arrive at a counter in the node
// segment. On a single node the last rank to arrive publishes the result, so that no rank has to be
// woken for it. With several nodes the leaders gather the results of all nodes, and each leader
// publishes the merged one on its node.
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
    // Only leaders gather from all nodes: on other ranks nothing grows with the number of nodes.
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

bool CallTeam::messages_done() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->messages_done(); });
}

bool CallTeam::may_forget_a_round() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->may_forget_a_round(); });
}

bool CallTeam::windows_done() {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](ProgressTask* task) { return task->windows_done(); });
}

void CallTeam::barrier() {
    barrier([this] {
        if (place_.nodes == 1) {
            return;
        }
        constexpr std::byte here{1};
        std::vector<std::byte> all(static_cast<std::size_t>(place_.nodes));
        communicator_.all_gather({&here, 1}, all);
    });
}

// Sleeps while `word` is `seen`, after attend() found nothing to do. A rank with tasks sleeps only
// briefly, because any task may become ready at any time; but its only task may block on storage
// instead. The rank sleeps on the word for which its first task waits, if any, and not on `word`,
// since the task's word nearly always changes first.
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

// The leader forwards the tokens of all aggregators of its node: any of their words may be the next
// to change, and so may the word for which the leader waits itself. The bell changes with each of
// them.
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
void CallTeam::barrier(Publish publish) {
    SegmentHeader& header = node_segment_.header();
    const std::uint32_t generation = header.generation.load(std::memory_order_acquire);
    const auto locals = static_cast<std::uint32_t>(place_.locals);
    const bool last = header.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == locals;
    const bool publishes = place_.nodes == 1 ? last : place_.leader();
    if (publishes) {
        wait_until(header.arrived,
                   [&] { return header.arrived.load(std::memory_order_acquire) == locals; });
        // The leaders are about to block in an all-gather. Before that, each must have sent and
        // received all messages under way, because another leader may need them to get here.
        attend_until([this] { return messages_done(); });
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

plan::AgreementVote CallTeam::all_reduce(VoteMoment moment, const plan::AgreementVote& mine) {
    node_segment_.slot(place_.local).vote(moment) = mine;
    barrier([this, moment] { publish_votes(moment); });
    return node_segment_.header().verdict;
}

plan::BlockClaims CallTeam::all_reduce(const plan::BlockClaims& mine, std::int64_t blocks_max) {
    node_segment_.slot(place_.local).claims = mine;
    barrier([this, blocks_max] { publish_claims(blocks_max); });
    return node_segment_.header().round;
}

template <class Each>
std::span<const Each> CallTeam::of_all_nodes(const Each& mine, std::vector<Each>& room) {
    const std::span<Each> all{room.data(), static_cast<std::size_t>(place_.nodes)};
    communicator_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(all));
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
        for (std::int32_t n = 0; n < place_.nodes; ++n) {
            const plan::AgreementVote& node = nodes[static_cast<std::size_t>(n)];
            if (moment == VoteMoment::start) {
                node_segment_.node(NodeId{n}) = node.summary;
            }
            all = plan::merge(all, node);
        }
    }
    node_segment_.header().verdict = all;
    ++node_segment_.header().calls;
}

void CallTeam::publish_claims(std::int64_t blocks_max) {
    const auto locals = static_cast<std::size_t>(place_.locals);
    // Only the rank that publishes allocates this, in the first call with sparse data: 1 KiB for
    // each node would be much for a file that never has any.
    gathered_claims_.resize(std::max(locals, static_cast<std::size_t>(place_.nodes)));
    for (std::size_t i = 0; i < locals; ++i) {
        gathered_claims_[i] = node_segment_.slot(LocalRank{static_cast<std::int32_t>(i)}).claims;
    }
    plan::BlockClaims all = plan::merge({gathered_claims_.data(), locals}, blocks_max);
    if (place_.nodes > 1) {
        all = plan::merge(of_all_nodes(all, gathered_claims_), blocks_max);
    }
    node_segment_.header().round = all;
}

}  // namespace forebay::engine
