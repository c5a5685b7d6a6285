// The progress tasks of an aggregator: WriteTask writes windows that ranks have filled; ReadTask
// reads windows for ranks to copy from. Both have up to `buffers` windows under way at a time, so
// that exchange and storage overlap.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/cutter.hpp"
#include "collective/engine/rounds.hpp"
#include "storage/transfer/channel.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::engine {

// The part that both directions have in common: a ring of windows, opened in the order of rounds.
class AggregatorTask : public ProgressTask {
public:
    // `turns`: the aggregator's turn block if it shares its target with other aggregators; else
    // nullptr. Contract: with turns, the channel has one request of a window in flight at a time.
    AggregatorTask(AggregatorId id, CallTeam& team, const CallRounds& rounds,
                   const Staging& staging, transfer::Channel& channel,
                   const transfer::CutLimits& limits, TurnBlock* turns);

    // Whether this aggregator is done with its windows of all known rounds.
    [[nodiscard]] bool idle() const noexcept { return finished_ == rounds_.known(); }
    [[nodiscard]] bool windows_done() override { return idle(); }
    [[nodiscard]] bool may_forget_a_round() override {
        return rounds_.remembers_after_next(opened_);
    }
    // The bytes of windows that lay in memory lent by storage.
    [[nodiscard]] Length lent() const noexcept { return lent_; }

protected:
    // One window that is under way.
    struct Stage {
        plan::Window window;
        std::size_t index = 0;            // of its place in staging, and of its control block
        std::uint32_t expected = 0;       // ranks of this node, and other nodes, that take part
        std::int64_t begin_ns = 0;        // when it was given to storage
        std::optional<ports::Loan> loan;  // lent memory that the window is in; nullopt: in staging
    };

    [[nodiscard]] Stage& stage(std::int64_t round) noexcept {
        return stages_[static_cast<std::size_t>(round) % stages_.size()];
    }
    [[nodiscard]] std::size_t job_of(std::int64_t round) const noexcept {
        return static_cast<std::size_t>(round) % stages_.size();
    }
    // Prepares the window of `round` in its place of the ring.
    void load(std::int64_t round);
    // Opens the window of `round` to ranks. `end_of_file`: reads take only bytes below this offset.
    void announce(std::int64_t round, std::int64_t end_of_file);
    // Whether all that take part in the window of `round` have done so.
    [[nodiscard]] bool done_by_all(std::int64_t round);
    [[nodiscard]] std::span<std::byte> image(const Stage& stage) const;
    // Whether ranks mark nothing: in a simulator, the coverage of a plan without gaps would say
    // nothing.
    [[nodiscard]] bool marks_nothing() const noexcept;
    // The coverage of a filled window; nullopt: every byte was given.
    [[nodiscard]] std::optional<pattern::Coverage> given(const Stage& stage) const;

    // Shared target: tells the leader, and wakes it, that the windows below `round` are ready for
    // storage.
    void tell_ready(std::int64_t round);
    // Whether the window of `round` may go to storage now.
    [[nodiscard]] bool has_turn(std::int64_t round) const;
    // Gives the window of `round` to storage, as the requests of `source`.
    void start(std::int64_t round, std::unique_ptr<transfer::RequestSource> source);
    // Shared target: tells the leader that storage is done with the window of `round`, and how the
    // target served it.
    void end(std::int64_t round);

    AggregatorId id_;
    CallTeam& team_;
    const CallRounds& rounds_;
    const Staging& staging_;
    transfer::Channel& channel_;
    transfer::CutLimits limits_;
    TurnBlock* turns_;
    std::vector<Stage> stages_;
    Length lent_;
    std::int64_t ready_ = 0;  // as tell_ready() told the leader
    // Numbers of windows: finished_ ≤ middle_ ≤ opened_ ≤ finished_ + buffers.
    std::int64_t opened_ = 0;    // writes: opened to ranks; reads: given to storage
    std::int64_t middle_ = 0;    // writes: given to storage; reads: opened to ranks
    std::int64_t finished_ = 0;  // done with, so that the buffer is free again

private:
    // How many ranks of this node, and how many other nodes, may have bytes in the window.
    [[nodiscard]] std::uint32_t participants(const plan::Window& window) const;
};

// If storage lends memory, ranks put windows together there, which saves storage a copy. This needs
// memory that is free, and that all ranks of the node can write to.
class WriteTask final : public AggregatorTask {
public:
    // `lender`: null if storage lends no memory.
    WriteTask(AggregatorId id, CallTeam& team, const CallRounds& rounds, const Staging& staging,
              transfer::Channel& channel, const transfer::CutLimits& limits, TurnBlock* turns,
              ports::MemoryLender* lender)
        : AggregatorTask{id, team, rounds, staging, channel, limits, turns}, lender_{lender} {}
    bool attend() override;
    bool block() override;
    const ports::Word* concern() override;

private:
    // Borrows memory for the window of `stage`, if possible.
    void find_memory(Stage& stage);
    [[nodiscard]] bool reached_by_all();
    void give_back(Stage& stage);

    ports::MemoryLender* lender_;
    bool reached_ = false;  // all ranks of the node can write to the lent memory
};

class ReadTask final : public AggregatorTask {
public:
    using AggregatorTask::AggregatorTask;
    bool attend() override;
    bool block() override;
    const ports::Word* concern() override;
};

}  // namespace forebay::engine
