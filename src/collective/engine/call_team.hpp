// The ranks of a job during a collective call, as one of them works with the others: barriers,
// all-reduces and waiting. A rank that also writes, reads or carries messages for others has
// progress tasks. They make up a progress engine without a thread: the rank attends to them
// whenever it would wait.
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

// Work that a rank does for others beside its own copying. messages_done() is about messages,
// windows_done() about storage, and may_forget_a_round() about rounds that are about to be
// forgotten.
class ProgressTask {
public:
    virtual ~ProgressTask() = default;
    // Does all that can be done without blocking. Returns whether anything was done.
    virtual bool attend() = 0;
    // Blocks on storage if nothing else can let the task go on. Returns false if it did not block.
    virtual bool block() { return false; }
    // The futex word whose change lets the task go on; nullptr: no particular one.
    virtual const ports::Word* concern() { return nullptr; }
    // Whether this task has sent and received all messages of the known rounds, so that no other
    // rank waits for one.
    [[nodiscard]] virtual bool messages_done() { return true; }
    // Whether one more round may become known: the task has already opened its window of the oldest
    // remembered round, which will be forgotten then.
    [[nodiscard]] virtual bool may_forget_a_round() { return true; }
    // Whether the task has finished its windows of all known rounds, including their storage.
    [[nodiscard]] virtual bool windows_done() { return true; }
};

// The time that a rank spends in one call, in nanoseconds.
struct CallTimes {
    std::int64_t copy = 0;
    std::int64_t wait = 0;
};

class CallTeam {
public:
    // `imagined`: a simulator's hook (foundation/ports/imagined.hpp), through which bytes are
    // counted and charged instead of copied; nullptr in a real run.
    CallTeam(ports::Communicator& communicator, const ports::TimeSource& clock,
             ports::Imagined* imagined = nullptr);

    [[nodiscard]] const ports::RankPlace& place() const noexcept { return place_; }
    [[nodiscard]] NodeSegment& node_segment() noexcept { return node_segment_; }
    [[nodiscard]] ports::Communicator& communicator() noexcept { return communicator_; }
    [[nodiscard]] const ports::TimeSource& clock() const noexcept { return clock_; }
    [[nodiscard]] const CallTimes& times() const noexcept { return times_; }
    [[nodiscard]] ports::Imagined* imagined() const noexcept { return imagined_; }

    void begin_call() noexcept { times_ = {}; }
    // To be called if aggregators of this file share targets, which is the same on all ranks.
    void use_turns() noexcept { turns_ = true; }
    // The tasks of this rank in the present call. Contract: those of the last call have ended.
    void begin_tasks(std::vector<ProgressTask*> tasks) {
        expects(tasks_.empty(), "tasks do not outlive their call");
        tasks_ = std::move(tasks);
    }
    void end_tasks() noexcept { tasks_.clear(); }
    // ProgressTask's functions of the same names, over all tasks of this rank.
    bool attend();
    [[nodiscard]] bool messages_done();
    [[nodiscard]] bool may_forget_a_round();
    [[nodiscard]] bool windows_done();
    void count_copy(std::int64_t nanoseconds) noexcept { times_.copy += nanoseconds; }

    // Attends to the tasks until `ready()` is true. The rank that makes it true changes `word` and
    // wakes its waiters.
    template <class Ready>
    void wait_until(const ports::Word& word, Ready ready);
    // Attends to the tasks until `ready()` is true, which only these tasks can bring about.
    template <class Ready>
    void attend_until(Ready ready);

    // Wakes all ranks that wait on `word`; to be called after changing it.
    void wake(ports::Word& word);

    // Sleeps on `word` for about 0.1 ms at most, while it is `seen`; the time counts as waiting.
    void wait_briefly(const ports::Word& word, std::uint32_t seen);

    // All-reduce over the job: every rank gives its vote, and all get the merged one. At the start
    // of a call, the summary of each node also goes into the node segment.
    plan::AgreementVote all_reduce(VoteMoment moment, const plan::AgreementVote& mine);
    // All-reduce over the job: every rank gives its claim, and all get the blocks of the next
    // round.
    plan::BlockClaims all_reduce(const plan::BlockClaims& mine, std::int64_t blocks_max);
    // Barrier over the job.
    void barrier();
    // The number of the present call in this node segment, the same for all ranks of a node.
    [[nodiscard]] std::uint64_t call_number() const noexcept {
        return node_segment_.header().calls;
    }

private:
    // The barrier of a node's ranks. One rank calls `publish` when all have arrived and none has
    // left.
    template <class Publish>
    void barrier(Publish publish);
    // All-gather among the leaders: `mine` is the value of this node. The result, in node order,
    // lies in `room`.
    template <class Each>
    std::span<const Each> of_all_nodes(const Each& mine, std::vector<Each>& room);
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
