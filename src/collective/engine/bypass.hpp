// Bypass of two-phase I/O: pieces that are already large, contiguous and aligned are read and
// written where they lie in the program's memory. The ranks of a node share nothing but the gate.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/cutter.hpp"
#include "foundation/pattern/copy.hpp"
#include "storage/transfer/channel.hpp"

#include <array>
#include <optional>
#include <vector>

namespace forebay::engine {

// The gate that the ranks of a node share: it lets at most k requests to each target be in flight
// among all of them. Its counts are futex words in the node segment.
class NodeGate final : public transfer::Gate {
public:
    NodeGate(CallTeam& team, std::int32_t in_flight_max) : team_{team}, most_{in_flight_max} {}

    [[nodiscard]] std::int32_t try_enter(TargetId target) override;
    void leave(TargetId target, const plan::ServedRequest& service) override;
    // The word of the target that last refused a request; it changes when a request leaves.
    // Contract: a request was refused.
    [[nodiscard]] const ports::Word& refused_at() const noexcept { return *refused_; }

private:
    [[nodiscard]] ports::Word& word(TargetId target) const noexcept;

    CallTeam& team_;
    std::int32_t most_;
    const ports::Word* refused_ = nullptr;
};

// A source of requests whose pieces lie in the program's memory.
class DirectSource final : public transfer::RequestSource {
public:
    DirectSource(pattern::WindowedTransfer& transfer, const Extent& span,
                 const transfer::CutLimits& limits);

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override;

private:
    bool load();

    pattern::WindowedTransfer& transfer_;
    Extent rest_;
    transfer::CutLimits limits_;
    std::array<pattern::MemoryRun, 64> runs_{};
    std::size_t run_ = 0;
    std::size_t run_count_ = 0;
};

// Moves the whole request of this rank through `channel`; local. Contract: `gate` is the channel's
// gate.
void move_directly(CallTeam& team, transfer::Channel& channel, const NodeGate& gate,
                   std::unique_ptr<transfer::RequestSource> source);

}  // namespace forebay::engine
