// The node-shared memory through which the ranks of one node work together: a header, a slot per
// rank, a summary per node, control blocks and the staging area. Everything here is plain bytes
// and atomics at the same place for every rank; zero is a valid start, and nothing but `tag`s, what
// is lent, and the words of meetings and attendances outlives a call, so that files can take turns
// in one node segment.
#pragma once

#include "collective/plan/agreement.hpp"
#include "collective/plan/claims.hpp"
#include "collective/plan/plan.hpp"
#include "collective/plan/summary.hpp"
#include "collective/plan/turns.hpp"
#include "foundation/base/units.hpp"
#include "foundation/pattern/coverage.hpp"
#include "foundation/ports/communicator.hpp"
#include "foundation/ports/lending.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::engine {

// The two moments of a call at which all ranks vote. AgreementVotes of the start are read during
// the call.
enum class VoteMoment : std::size_t { start, end };

struct alignas(64) RankSlot {
    // Aggregators of a node whose windows may lie in memory that their storage lends.
    static constexpr std::size_t lenders_max = 8;

    std::array<plan::AgreementVote, 2> votes;  // by VoteMoment
    plan::BlockClaims claims;
    // By which the rank's storage lends memory (foundation/ports/lending.hpp); 0: it does not.
    std::atomic<std::uint64_t> lends{0};
    // The lent memory that the rank can write to, by Aggregator::on_node; 0: none.
    std::array<std::atomic<std::uint64_t>, lenders_max> reaches{};

    [[nodiscard]] plan::AgreementVote& vote(VoteMoment moment) noexcept {
        return votes[static_cast<std::size_t>(moment)];
    }
};

// One window of staging. An aggregator (or, for images on their way to another node, the leader)
// opens it by setting `tag`; ranks that have done their part in it count up `parts`.
struct alignas(64) WindowControl {
    std::atomic<std::uint64_t> tag{0};
    ports::Word bell{0};  // changes with the tag
    ports::Word parts{0};
    std::atomic<std::uint32_t> expected{0};
    std::atomic<std::int64_t> end_of_file{0};
    std::atomic<std::int64_t> imagined{0};  // bytes given that are not there
    // Whose memory the window lies in, and where; 0: it lies in staging.
    std::atomic<std::uint64_t> lender{0};
    std::atomic<std::size_t> place{0};
};

// How an aggregator that shares its target and its node's leader, who carries the turns, tell each
// other what has become of the aggregator's windows in this call. Counts of windows.
struct alignas(64) TurnBlock {
    ports::Word filled{0};   // by the aggregator
    ports::Word started{0};  // by the leader: may be written or read now
    ports::Word ended{0};    // by the aggregator
    std::array<plan::ServedRequest, plan::Station::remembered>
        services;  // of ended windows, by round

    void reset() noexcept {
        for (ports::Word* word : {&filled, &started, &ended}) {
            word->store(0, std::memory_order_relaxed);
        }
    }
};

struct SegmentHeader {
    alignas(64) ports::Word generation{0};
    alignas(64) ports::Word arrived{0};
    // Where aggregators share targets: changes with every word that the leader may wait for.
    alignas(64) ports::Word leader_bell{0};
    alignas(64) std::uint64_t calls =
        0;  // numbers the calls of the node segment; written by publishers
    plan::AgreementVote verdict;
    plan::BlockClaims round;
    alignas(64) std::array<ports::Word, 64> gates{};  // requests in flight of bypassing ranks
    // plan::CallAttendance of ranks that have come to non-blocking calls; the bell changes with
    // each.
    static constexpr std::size_t attendances_max = 16;
    alignas(64) std::array<std::atomic<std::uint64_t>, attendances_max> attendances{};
    ports::Word attendance_bell{0};
};

class NodeSegment {
public:
    static constexpr std::size_t controls = 1024;
    static constexpr std::size_t gates = 64;

    NodeSegment(std::span<std::byte> memory, const ports::RankPlace& place);

    [[nodiscard]] static std::size_t overhead_bytes(std::int32_t locals, std::int32_t nodes);

    [[nodiscard]] SegmentHeader& header() const noexcept { return *header_; }
    [[nodiscard]] RankSlot& slot(LocalRank rank) const noexcept;
    [[nodiscard]] plan::Summary& node(NodeId node) const noexcept;
    [[nodiscard]] WindowControl& control(std::size_t window) const noexcept;
    // The turns of the aggregator that has `number` aggregators before it on this node.
    [[nodiscard]] TurnBlock& turns(std::int32_t number) const noexcept;
    [[nodiscard]] ports::Word& gate(std::size_t number) const noexcept {
        return header_->gates.at(number);
    }
    [[nodiscard]] std::span<std::byte> staging() const noexcept { return staging_; }

private:
    SegmentHeader* header_;
    std::span<RankSlot> slots_;
    std::span<plan::Summary> nodes_;
    std::span<WindowControl> controls_;
    std::span<TurnBlock> turns_;  // one a rank
    std::span<std::byte> staging_;
};

// Places of windows, coverage bitmaps and messages in the staging area for one plan.
class Staging {
public:
    static constexpr std::size_t rounding_bytes_max = 512 << 10;  // lost to page alignment

    // `borrower`: reaches what storage lends; may be null where nothing does.
    Staging(const NodeSegment& node_segment, const plan::Plan& plan, std::int32_t nodes,
            ports::MemoryBorrower* borrower = nullptr);

    [[nodiscard]] std::span<std::byte> image(std::size_t window) const noexcept;
    // The first `bytes` of a window that has been announced: in staging, or where it is lent.
    [[nodiscard]] std::span<std::byte> announced(std::size_t window, std::int64_t bytes) const;
    [[nodiscard]] pattern::Coverage coverage(std::size_t window, std::int64_t image_bytes) const;
    // Room of one message between leaders; only with several nodes.
    [[nodiscard]] std::span<std::byte> message(std::size_t number) const noexcept;

private:
    const NodeSegment* node_segment_;
    ports::MemoryBorrower* borrower_;
    std::span<std::byte> area_;
    std::size_t image_bytes_ = 0;
    std::size_t words_ = 0;
    std::size_t window_stride_ = 0;
    std::size_t messages_at_ = 0;
    std::size_t message_stride_ = 0;
    std::int64_t granularity_ = 1;
};

}  // namespace forebay::engine
