// The two tasks of an aggregator: writing windows that have been filled, and filling windows that
// are to be read. Both keep `buffers` windows going at once, so that exchange and storage overlap.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/cutter.hpp"
#include "collective/engine/rounds.hpp"
#include "storage/transfer/channel.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::engine {

// The part that both directions share: a ring of windows, opened in the order of rounds.
class AggregatorTask : public ProgressTask {
public:
    // `turns`: where the target is shared with other aggregators; else nullptr. Contract: then the
    // channel has one request of a window in flight.
    AggregatorTask(AggregatorId id, CallTeam& team, const CallRounds& rounds,
                   const Staging& staging, transfer::Channel& channel,
                   const transfer::CutLimits& limits, TurnBlock* turns);

    // Every known round has been dealt with.
    [[nodiscard]] bool idle() const noexcept { return finished_ == rounds_.known(); }
    [[nodiscard]] bool through() override { return idle(); }
    [[nodiscard]] bool keeps_up() override { return rounds_.remembers_after_next(opened_); }
    // Bytes of windows in memory that storage lent.
    [[nodiscard]] Length lent() const noexcept { return lent_; }

protected:
    struct Stage {
        plan::Window window;
        std::size_t index = 0;            // in staging and in the node segment's controls
        std::uint32_t expected = 0;       // ranks of this node, and other nodes, that take part
        std::int64_t begin_ns = 0;        // given to storage
        std::optional<ports::Loan> loan;  // where the window is, if not in staging
    };

    [[nodiscard]] Stage& stage(std::int64_t round) noexcept {
        return stages_[static_cast<std::size_t>(round) % stages_.size()];
    }
    [[nodiscard]] std::size_t job_of(std::int64_t round) const noexcept {
        return static_cast<std::size_t>(round) % stages_.size();
    }
    void load(std::int64_t round);
    // Lets ranks at the window of `round`.
    void announce(std::int64_t round, std::int64_t end_of_file);
    // All that take part have done so.
    [[nodiscard]] bool done_by_all(std::int64_t round);
    [[nodiscard]] std::span<std::byte> image(const Stage& stage) const;
    // Bytes are not there, and all are given: coverage would say nothing.
    [[nodiscard]] bool marks_nothing() const noexcept;
    // Which bytes of a filled window were given; nullopt: all.
    [[nodiscard]] std::optional<pattern::Coverage> given(const Stage& stage) const;

    // Shared targets: the windows below `round` are ready. Wakes who carries the turns.
    void tell_ready(std::int64_t round);
    // Whether the window of `round` may go to storage now.
    [[nodiscard]] bool has_turn(std::int64_t round) const;
    void start(std::int64_t round, std::unique_ptr<transfer::RequestSource> source);
    // Storage is through with the window of `round`.
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
    std::int64_t ready_ = 0;  // as told
    // finished_ ≤ middle_ ≤ opened_ ≤ finished_ + buffers
    std::int64_t opened_ = 0;    // writes: announced; reads: given to storage
    std::int64_t middle_ = 0;    // writes: given to storage; reads: announced
    std::int64_t finished_ = 0;  // the window is free again

private:
    [[nodiscard]] std::uint32_t participants(const plan::Window& window) const;
};

// Where storage lends memory, windows are put together there, as far as it has some and all ranks
// of the node reach it.
class WriteTask final : public AggregatorTask {
public:
    // `lender`: may be null.
    WriteTask(AggregatorId id, CallTeam& team, const CallRounds& rounds, const Staging& staging,
              transfer::Channel& channel, const transfer::CutLimits& limits, TurnBlock* turns,
              ports::MemoryLender* lender)
        : AggregatorTask{id, team, rounds, staging, channel, limits, turns}, lender_{lender} {}
    bool attend() override;
    bool block() override;
    const ports::Word* concern() override;

private:
    void find_memory(Stage& stage);
    [[nodiscard]] bool reached_by_all();
    void give_back(Stage& stage);

    ports::MemoryLender* lender_;
    bool reached_ = false;  // by all ranks of the node
};

class ReadTask final : public AggregatorTask {
public:
    using AggregatorTask::AggregatorTask;
    bool attend() override;
    bool block() override;
    const ports::Word* concern() override;
};

}  // namespace forebay::engine
