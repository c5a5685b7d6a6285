// Which ranks move their own pieces, and when they do so before the agreement at the start.
#include "collective/plan/bypass.hpp"

#include "foundation/base/bytes.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace forebay::plan {
namespace {

const FileStripes unstriped{};
const FileStripes striped{4, mib};

NodeTopology nodes_of(std::int32_t nodes) {
    return NodeTopology{std::vector<std::int32_t>(static_cast<std::size_t>(nodes), 4), 1};
}

Summary block(std::int64_t begin, std::int64_t bytes) {
    return Summary{begin, begin + bytes, bytes, mib, bytes};
}

TEST(MayBypass, WhoHasBytesThatNeedNoExchange) {
    struct Row {
        const char* name;
        Summary mine;
        FileStripes layout;
        std::int32_t nodes;
        bool may;
    };
    const std::vector<Row> table{
        {"one piece on one node", block(0, mib), unstriped, 1, true},
        {"nothing to move", Summary{}, unstriped, 1, false},
        {"large and aligned", block(mib, 2 * mib), striped, 2, true},
        {"small pieces over nodes", Summary{0, mib, 1024, 64, 64, false}, striped, 2, false},
        {"pieces that cut stripes", Summary{0, 4 * mib, 4 * mib, 4096, 4 * mib}, striped, 2, false},
    };
    for (const Row& row : table) {
        EXPECT_EQ(
            may_bypass(row.mine, row.layout, nodes_of(row.nodes), Tuning{}, IoDirection::write),
            row.may)
            << row.name;
    }
}

TEST(MayMoveFirst, WhereTheLastCallBypassedAndNothingCanComeBetween) {
    AgreementVote all;
    all.summary = block(0, mib);
    all.direct = block(mib, mib);
    AgreementVote holes = all;
    holes.view_has_holes = 1;
    AgreementVote unable = all;
    unable.cannot_bypass = 1;
    AgreementVote exchanged = all;
    exchanged.summary.unbroken = false;
    exchanged.summary.shortest_piece = 4096;
    AgreementVote moved_before;  // all of it before the start
    moved_before.direct = all.direct;
    struct Row {
        const char* name;
        AgreementVote all;
        IoDirection direction;
        HandleAccess handle;
        bool may;
    };
    const IoDirection write = IoDirection::write;
    const IoDirection read = IoDirection::read;
    const std::vector<Row> table{
        {"a write", all, write, HandleAccess::may_write, true},
        {"a write through holes", holes, write, HandleAccess::may_write, false},
        {"who could not open", unable, write, HandleAccess::may_write, false},
        {"what was exchanged", exchanged, write, HandleAccess::may_write, false},
        {"what moved before", moved_before, write, HandleAccess::may_write, true},
        {"a read of what others write", all, read, HandleAccess::may_write, false},
        {"a read of what nobody writes", all, read, HandleAccess::only_reads, true},
        {"a read through holes", holes, read, HandleAccess::only_reads, true},
        {"a reader who could not open", unable, read, HandleAccess::only_reads, false},
    };
    for (const Row& row : table) {
        EXPECT_EQ(
            may_move_first(row.all, unstriped, nodes_of(1), Tuning{}, row.direction, row.handle),
            row.may)
            << row.name;
    }
}

TEST(BypassingInFlight, IsKButForReadsWhereNothingIsStriped) {
    struct Row {
        const char* name;
        FileStripes layout;
        IoDirection direction;
        std::int32_t asked;
        std::int32_t in_flight;
    };
    const IoDirection write = IoDirection::write;
    const IoDirection read = IoDirection::read;
    const std::vector<Row> table{
        {"as set", unstriped, write, 3, 3},
        {"as set, striped", striped, read, 3, 3},
        {"reads of a local file", unstriped, read, 3, unlimited_requests_in_flight},
        {"found while running", striped, write, find_requests_in_flight, first_requests_in_flight},
        {"stripes of unknown size", FileStripes{2, 0}, read, 3, 3},
    };
    for (const Row& row : table) {
        Tuning tuning;
        tuning.requests_in_flight = row.asked;
        EXPECT_EQ(bypassing_in_flight(row.layout, tuning, row.direction), row.in_flight)
            << row.name;
    }
}

}  // namespace
}  // namespace forebay::plan
