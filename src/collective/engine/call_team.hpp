// The ranks of a job at one node segment: how they meet, wait for one another and agree. A rank
// that also writes, reads or carries messages has tasks; it attends to them whenever it waits.
#pragma once

#include "collective/engine/node_segment.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/communicator.hpp"
#include "foundation/ports/imagined.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::engine {

// Something a rank does for others beside its own copying.
class ProgressTask {
public:
    virtual ~ProgressTask() = default;
    // Does what can be done without blocking. True when anything was done.
    virtual bool attend() = 0;
    // Blocks until the outside world has done something, if nothing else can go on. False: it did
    // not block.
    virtual bool block() { return false; }
    // The word whose change lets the task go on; nullptr: none in particular.
    virtual const ports::Word* concern() { return nullptr; }
    // No other rank waits for a message that this task still has to send or take.
    [[nodiscard]] virtual bool settled() { return true; }
    // One more round may become known: the oldest that would be forgotten for it has been opened.
    [[nodiscard]] virtual bool keeps_up() { return true; }
    // Everything in the known rounds is done.
    [[nodiscard]] virtual bool through() { return true; }
};

// Where a rank's time goes during one call, nanoseconds.
struct CallTimes {
    std::int64_t copy = 0;
    std::int64_t wait = 0;
};

class CallTeam {
public:
    // `imagined`: where the program's bytes are not there; else nullptr.
    CallTeam(ports::Communicator& communicator, const ports::TimeSource& clock,
             ports::Imagined* imagined = nullptr);

    [[nodiscard]] const ports::RankPlace& place() const noexcept { return place_; }
    [[nodiscard]] NodeSegment& node_segment() noexcept { return node_segment_; }
    [[nodiscard]] ports::Communicator& communicator() noexcept { return communicator_; }
    [[nodiscard]] const ports::TimeSource& clock() const noexcept { return clock_; }
    [[nodiscard]] const CallTimes& times() const noexcept { return times_; }
    [[nodiscard]] ports::Imagined* imagined() const noexcept { return imagined_; }

    void begin_call() noexcept { times_ = {}; }
    // Aggregators of this file share targets: the same on all ranks.
    void use_turns() noexcept { turns_ = true; }
    // What this rank does for others in the present call. Contract: the last call's have ended.
    void begin_tasks(std::vector<ProgressTask*> tasks) {
        expects(tasks_.empty(), "tasks do not outlive their call");
        tasks_ = std::move(tasks);
    }
    void end_tasks() noexcept { tasks_.clear(); }
    bool attend();
    [[nodiscard]] bool settled();
    [[nodiscard]] bool keeps_up();
    [[nodiscard]] bool through();
    void count_copy(std::int64_t nanoseconds) noexcept { times_.copy += nanoseconds; }

    // Blocks until `ready()`; `word` changes when it may have become so.
    template <class Ready>
    void wait_until(const ports::Word& word, Ready ready);
    // Blocks until `ready()`, which only this rank's tasks can bring about.
    template <class Ready>
    void attend_until(Ready ready);

    // Wakes all who wait on `word`; call after changing it.
    void wake(ports::Word& word);

    // Sleeps on `word` for a moment at most; counts as waiting.
    void wait_briefly(const ports::Word& word, std::uint32_t seen);

    // Collective over the job: every rank's vote in, the merged one out. At the start it also
    // leaves each node's summary in the node segment. An error of the message library is the
    // outcome's failure.
    plan::AgreementVote agree(VoteMoment moment, const plan::AgreementVote& mine);
    // Collective over the job: the next round's blocks.
    plan::BlockClaims agree(const plan::BlockClaims& mine, std::int64_t blocks_max);
    // Collective over the job: nobody goes on before all have come.
    void meet();
    // Number of the present call in this node segment; the same for all ranks of a node.
    [[nodiscard]] std::uint64_t call_number() const noexcept {
        return node_segment_.header().calls;
    }

private:
    template <class Publish>
    void meet(Publish publish);
    // Leaders: every node's, in node order, and of this one `mine`; they lie in `room`.
    template <class Each>
    Result<std::span<const Each>> of_all_nodes(const Each& mine, std::vector<Each>& room);
    void publish_votes(VoteMoment moment);
    void publish_claims(std::int64_t blocks_max);
    void wait(const ports::Word& word, std::uint32_t seen);
    void wait_for_bell(const ports::Word& word, std::uint32_t seen);

    ports::Communicator& communicator_;
    const ports::TimeSource& clock_;
    ports::Imagined* imagined_;
    ports::RankPlace place_;
    NodeSegment node_segment_;
    std::vector<ProgressTask*> tasks_;
    std::vector<plan::BlockClaims> gathered_claims_;
    std::vector<plan::AgreementVote> gathered_votes_;
    CallTimes times_;
    bool turns_ = false;
};

template <class Ready>
void CallTeam::wait_until(const ports::Word& word, Ready ready) {
    while (true) {
        const std::uint32_t seen = word.load(std::memory_order_acquire);
        if (ready()) {
            return;
        }
        if (!attend()) {
            wait(word, seen);
        }
    }
}

template <class Ready>
void CallTeam::attend_until(Ready ready) {
    ports::Word& none = node_segment_.header().arrived;
    while (!ready()) {
        if (!attend()) {
            wait(none, none.load(std::memory_order_acquire));
        }
    }
}

}  // namespace forebay::engine
