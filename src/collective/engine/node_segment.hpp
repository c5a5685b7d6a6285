// The shared memory through which the ranks of one node work together: a header, a slot for each
// rank, a summary for each node, control blocks of windows, and the staging area. It holds only
// plain bytes and atomics, at the same place for every rank, and all zeros are a valid start.
// Nothing outlives a call except tags of windows, lent memory, and the words of barriers and
// attendances; so files can use one node segment in turn.
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

// The two moments of a call at which all ranks vote. Votes of the start are also read during the
// call.
enum class VoteMoment : std::size_t { start, end };

struct alignas(64) RankSlot {
    // Number of aggregators of a node whose windows may lie in memory that their storage lends.
    static constexpr std::size_t lenders_max = 8;

    std::array<plan::AgreementVote, 2> votes;  // by VoteMoment
    plan::BlockClaims claims;
    // The name by which others reach the memory that this rank's storage lends
    // (foundation/ports/lending.hpp); 0: it lends none.
    std::atomic<std::uint64_t> lends{0};
    // The names of lent memory to which this rank can write, by Aggregator::on_node of the lender;
    // 0: it cannot write to any.
    std::array<std::atomic<std::uint64_t>, lenders_max> reaches{};

    [[nodiscard]] plan::AgreementVote& vote(VoteMoment moment) noexcept {
        return votes[static_cast<std::size_t>(moment)];
    }
};

// The control block of one window of staging. The aggregator opens the window by setting `tag`. The
// leader does the same for an image, which is this node's copy of a window of another node. Each
// rank that has done its part in the window counts up `parts` until it is `expected`; the leader
// does so for other nodes.
struct alignas(64) WindowControl {
    std::atomic<std::uint64_t> tag{0};
    ports::Word bell{0};  // futex word that changes after the tag
    ports::Word parts{0};
    std::atomic<std::uint32_t> expected{0};
    std::atomic<std::int64_t> end_of_file{0};
    std::atomic<std::int64_t> imagined{0};  // simulator: bytes that were given without being copied
    // The name of the lender in whose memory the window lies, and the place there; 0: the window
    // lies in staging.
    std::atomic<std::uint64_t> lender{0};
    std::atomic<std::size_t> place{0};
};

// An aggregator that shares its target, and the leader of its node, which carries the turns, tell
// each other here what has become of the aggregator's windows in this call. Each word is a number
// of windows.
struct alignas(64) TurnBlock {
    ports::Word filled{0};   // written by the aggregator: ready for storage
    ports::Word started{0};  // written by the leader: may go to storage
    ports::Word ended{0};    // written by the aggregator: storage is done with them
    std::array<plan::ServedRequest, plan::Station::remembered>
        services;  // how the target served the windows that ended, by round

    void reset() noexcept {
        for (ports::Word* word : {&filled, &started, &ended}) {
            word->store(0, std::memory_order_relaxed);
        }
    }
};

struct SegmentHeader {
    alignas(64) ports::Word generation{0};
    alignas(64) ports::Word arrived{0};
    // Only where aggregators share targets: changes with every word for which the leader may wait.
    alignas(64) ports::Word leader_bell{0};
    alignas(64) std::uint64_t calls =
        0;  // calls of this segment so far; written by the rank that publishes
    plan::AgreementVote verdict;
    plan::BlockClaims round;
    // Requests of bypassing ranks in flight, by target modulo their number.
    static constexpr std::size_t gates_max = 64;
    alignas(64) std::array<ports::Word, gates_max> gates{};
    // The words of plan::CallAttendance, by file; the bell changes with each of them.
    static constexpr std::size_t attendances_max = 16;
    alignas(64) std::array<std::atomic<std::uint64_t>, attendances_max> attendances{};
    ports::Word attendance_bell{0};
};

class NodeSegment {
public:
    static constexpr std::size_t controls = 1024;

    NodeSegment(std::span<std::byte> memory, const ports::RankPlace& place);

    [[nodiscard]] static std::size_t overhead_bytes(std::int32_t locals, std::int32_t nodes);

    [[nodiscard]] SegmentHeader& header() const noexcept { return *header_; }
    [[nodiscard]] RankSlot& slot(LocalRank rank) const noexcept;
    [[nodiscard]] plan::Summary& node(NodeId node) const noexcept;
    [[nodiscard]] WindowControl& control(std::size_t window) const noexcept;
    // The turn block of the aggregator that has `number` aggregators before it on this node.
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
    std::span<TurnBlock> turns_;  // one for each rank
    std::span<std::byte> staging_;
};

// The places of windows, coverage bitmaps and messages in the staging area, for one plan.
class Staging {
public:
    static constexpr std::size_t rounding_bytes_max = 512 << 10;  // lost to page alignment

    // `borrower`: reaches memory that storage lends; null if none is lent.
    Staging(const NodeSegment& node_segment, const plan::Plan& plan, std::int32_t nodes,
            ports::MemoryBorrower* borrower = nullptr);

    [[nodiscard]] std::span<std::byte> image(std::size_t window) const noexcept;
    // The first `bytes` bytes of a window that is open: in staging or in lent memory.
    [[nodiscard]] std::span<std::byte> announced(std::size_t window, std::int64_t bytes) const;
    [[nodiscard]] pattern::Coverage coverage(std::size_t window, std::int64_t image_bytes) const;
    // The buffer of one message between leaders. Contract: there are several nodes.
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
