// Each rank for itself: pieces that are already large, contiguous and aligned are read and written
// where they lie in the program's memory. Only the gate is shared.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/cutter.hpp"
#include "foundation/pattern/copy.hpp"
#include "storage/transfer/channel.hpp"

#include <array>
#include <optional>
#include <vector>

namespace forebay::engine {

// The gate of a node's ranks: k requests per target in flight among all of them.
class NodeGate final : public transfer::Gate {
public:
    NodeGate(CallTeam& team, std::int32_t in_flight_max) : team_{team}, most_{in_flight_max} {}

    [[nodiscard]] std::int32_t try_enter(TargetId target) override;
    void leave(TargetId target, const plan::ServedRequest& service) override;
    // The word that changes when somebody leaves; of the target that last refused.
    [[nodiscard]] const ports::Word& refused_at() const noexcept { return *refused_; }

private:
    [[nodiscard]] ports::Word& word(TargetId target) const noexcept;

    CallTeam& team_;
    std::int32_t most_;
    const ports::Word* refused_ = nullptr;
};

// Requests straight from the program's memory.
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

// Moves the whole request of this rank through `channel`; local. Contract: the channel's gate is
// `gate`.
void move_directly(CallTeam& team, transfer::Channel& channel, const NodeGate& gate,
                   std::unique_ptr<transfer::RequestSource> source);

}  // namespace forebay::engine
