// Golden plans, and the properties of every plan: the file domains cover the file once, windows
// cover the span once, and a target is served from one node.
#include "collective/plan/plan.hpp"

#include "foundation/base/bytes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <rapidcheck/gtest.h>
#include <set>
#include <sstream>
#include <string>

namespace forebay::plan {
namespace {

Summary dense(std::int64_t begin, std::int64_t end, std::int64_t piece) {
    return Summary{begin, end, end - begin, piece, piece, false};
}

NodeTopology nodes_of(std::int32_t nodes, std::int32_t locals, std::int32_t per_node = 1) {
    return NodeTopology{std::vector<std::int32_t>(static_cast<std::size_t>(nodes), locals),
                        per_node};
}

const char* name_of(TransferPath path) noexcept {
    switch (path) {
        case TransferPath::nothing: return "nothing to do";
        case TransferPath::bypass: return "bypass: every rank for itself";
        case TransferPath::exchange: return "exchange through aggregators";
    }
    return "?";
}

// The plan as text, to be compared with golden ones.
std::string describe(const Plan& plan) {
    std::string text = fmt::format("path: {}\n", name_of(plan.path));
    if (plan.path == TransferPath::nothing) {
        return text;
    }
    auto out = std::back_inserter(text);
    fmt::format_to(out, "data: {} bytes in [{}, {})\n", plan.bytes, plan.span.begin.bytes(),
                   plan.span.end().bytes());
    fmt::format_to(out, "layout: {} target(s), stripe {} bytes\n", plan.layout.targets,
                   plan.layout.stripe_bytes);
    fmt::format_to(out, "windows: {} × {} bytes an aggregator, coverage in units of {} bytes\n",
                   plan.buffers, plan.window_bytes, plan.granularity);
    fmt::format_to(out, "rounds: {}\n",
                   plan.rounds == RoundKind::by_span
                       ? fmt::format("{} by span", plan.round_count())
                       : fmt::format("by claims of {} bytes", plan.block_bytes));
    for (std::size_t i = 0; i < plan.aggregators.size(); ++i) {
        const Aggregator& a = plan.aggregators[i];
        fmt::format_to(out, "aggregator {}: node {} local rank {}, targets {}..{}, {} round(s)\n",
                       i, a.node.value(), a.local.value(), a.first_target,
                       a.first_target + a.targets - 1,
                       plan.rounds_of(AggregatorId{static_cast<std::int32_t>(i)}));
    }
    return text;
}

TEST(Plan, OneNodeOneTargetReadsAsText) {
    const Plan plan = make_plan(dense(0, 128 * mib, 256), FileStripes{}, nodes_of(1, 4), Tuning{},
                                IoDirection::write);
    EXPECT_EQ(describe(plan),
              "path: exchange through aggregators\n"
              "data: 134217728 bytes in [0, 134217728)\n"
              "layout: 1 target(s), stripe 0 bytes\n"
              "windows: 4 × 1048576 bytes an aggregator, coverage in units of 256 bytes\n"
              "rounds: 128 by span\n"
              "aggregator 0: node 0 local rank 0, targets 0..0, 128 round(s)\n");
}

TEST(Plan, FourNodesFiveStripesUseFourAggregators) {  // ROMIO picks one
    const Plan plan = make_plan(dense(0, 20 * mib, 4096), FileStripes{5, mib}, nodes_of(4, 2),
                                Tuning{}, IoDirection::write);
    EXPECT_EQ(describe(plan),
              "path: exchange through aggregators\n"
              "data: 20971520 bytes in [0, 20971520)\n"
              "layout: 5 target(s), stripe 1048576 bytes\n"
              "windows: 4 × 2097152 bytes an aggregator, coverage in units of 4096 bytes\n"
              "rounds: 4 by span\n"
              "aggregator 0: node 0 local rank 0, targets 0..0, 2 round(s)\n"
              "aggregator 1: node 1 local rank 0, targets 1..1, 2 round(s)\n"
              "aggregator 2: node 2 local rank 0, targets 2..2, 2 round(s)\n"
              "aggregator 3: node 3 local rank 0, targets 3..4, 4 round(s)\n");
}

TEST(Plan, LargeAlignedPiecesBypassTheExchange) {
    const Plan plan = make_plan(dense(0, 64 * mib, mib), FileStripes{4, mib}, nodes_of(2, 4),
                                Tuning{}, IoDirection::write);
    EXPECT_EQ(plan.path, TransferPath::bypass);
}

TEST(Plan, PiecesThatCutStripesDoNotBypass) {
    const Plan plan = make_plan(dense(0, 64 * mib, mib / 2), FileStripes{4, mib}, nodes_of(2, 4),
                                Tuning{}, IoDirection::write);
    EXPECT_EQ(plan.path, TransferPath::exchange);
}

TEST(Plan, OnePieceOfEachRankOfOneNodeBypassesWhereNothingIsStriped) {
    Summary blocks = dense(0, 4 * 65536, 65536);
    blocks.unbroken = true;
    EXPECT_EQ(make_plan(blocks, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::write).path,
              TransferPath::bypass);
    EXPECT_EQ(make_plan(blocks, FileStripes{}, nodes_of(2, 2), Tuning{}, IoDirection::write).path,
              TransferPath::exchange);
    EXPECT_EQ(
        make_plan(blocks, FileStripes{1, mib}, nodes_of(1, 4), Tuning{}, IoDirection::read).path,
        TransferPath::exchange);
    blocks.long_in_memory = false;
    EXPECT_EQ(make_plan(blocks, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::read).path,
              TransferPath::exchange);
    blocks.long_in_memory = true;
    blocks.unbroken = false;
    EXPECT_EQ(make_plan(blocks, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::read).path,
              TransferPath::exchange);
}

TEST(Plan, OverlappingForSureDoesNotBypass) {
    Summary all = dense(0, mib, mib);
    all.bytes = 4 * mib;  // four ranks write the same MiB
    EXPECT_EQ(make_plan(all, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::write).path,
              TransferPath::exchange);
}

TEST(Plan, EnabledCollectiveBufferingNeverBypasses) {
    Tuning tuning;
    tuning.write = SwitchMode::enable;
    EXPECT_EQ(make_plan(dense(0, 64 * mib, mib), FileStripes{}, nodes_of(1, 4), tuning,
                        IoDirection::write)
                  .path,
              TransferPath::exchange);
}

TEST(Plan, NothingToDo) {
    const Plan plan =
        make_plan(Summary{}, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::write);
    EXPECT_EQ(describe(plan), "path: nothing to do\n");
}

TEST(Plan, SparseDataGoesByClaims) {
    const Summary all{0, 1000 * mib, 1000 * 1024, 1024, 1024};
    EXPECT_EQ(make_plan(all, FileStripes{}, nodes_of(1, 4), Tuning{}, IoDirection::write).rounds,
              RoundKind::by_claims);
}

TEST(Plan, TakesTurnsWhereAggregatorsShareTargetsAndKIsBounded) {
    struct Row {
        const char* name;
        std::int32_t per_target;
        std::int32_t requests_in_flight;
        DomainDivision domains;
        bool takes_turns;
    };
    const std::vector<Row> table{
        {"shared", 2, 2, DomainDivision::by_stripes, true},
        {"shared, k is found", 2, find_requests_in_flight, DomainDivision::by_stripes, true},
        {"alone", 1, 2, DomainDivision::by_stripes, false},
        {"no bound", 2, unlimited_requests_in_flight, DomainDivision::by_stripes, false},
        {"as first published", 2, 2, DomainDivision::even, false},
    };
    for (const Row& row : table) {
        Tuning tuning;
        tuning.aggregators_per_target = row.per_target;
        tuning.requests_in_flight = row.requests_in_flight;
        tuning.simulated_only.domains = row.domains;
        const Plan plan = make_plan(dense(0, 64 * mib, 4096), FileStripes{2, mib}, nodes_of(4, 2),
                                    tuning, IoDirection::write);
        EXPECT_EQ(plan.takes_turns, row.takes_turns) << row.name;
        EXPECT_EQ(share_targets(plan.aggregators), row.per_target > 1) << row.name;
    }
}

TEST(Plan, KnowsWhoAggregates) {
    const auto placed = place_aggregators(FileStripes{5, mib}, nodes_of(4, 2), Tuning{});
    for (std::size_t i = 0; i < placed.size(); ++i) {
        EXPECT_EQ(aggregator_at(placed, placed[i].node, placed[i].local),
                  AggregatorId{static_cast<std::int32_t>(i)});
    }
    EXPECT_EQ(aggregator_at(placed, NodeId{0}, LocalRank{1}), std::nullopt);
    EXPECT_EQ(aggregator_at(placed, NodeId{9}, LocalRank{0}), std::nullopt);
}

// The ranks on each node: "4*32" are four nodes with 32 ranks each, "3,3,1" three nodes.
std::vector<std::int32_t> ranks_on_nodes(const std::string& text) {
    std::vector<std::int32_t> found;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t times = part.find('*');
        const int nodes = times == std::string::npos ? 1 : std::stoi(part.substr(0, times));
        const int ranks = std::stoi(part.substr(times == std::string::npos ? 0 : times + 1));
        found.insert(found.end(), static_cast<std::size_t>(nodes), ranks);
    }
    return found;
}

// The Python package counts on the same placements, and its tests read the same table.
TEST(Plan, AggregatorsArePlacedAsAdviceCountsOnIt) {
    std::ifstream in(std::string(FOREBAY_SOURCE_DIR) + "/schema/examples/placements.tsv");
    int examples = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) {
            continue;
        }
        std::istringstream columns(line);
        FileStripes layout{1, mib};
        std::string ranks;
        NodeTopology topology;
        Tuning tuning;
        std::size_t count = 0;
        std::int32_t on_the_fullest = 0;
        columns >> layout.targets >> ranks >> topology.aggregators_per_node_max >>
            tuning.aggregators_max >> tuning.aggregators_per_target >> count >> on_the_fullest;
        ASSERT_FALSE(columns.fail()) << line;
        topology.locals = ranks_on_nodes(ranks);
        const auto placed = place_aggregators(layout, topology, tuning);
        EXPECT_EQ(placed.size(), count) << line;
        std::int32_t most = 0;
        for (const Aggregator& one : placed) {
            most = std::max(most, one.on_node + 1);
        }
        EXPECT_EQ(most, on_the_fullest) << line;
        examples += 1;
    }
    EXPECT_GT(examples, 40);
}

TEST(MemoryPiece, IsTheShortestOrAllThatLiesEndToEnd) {
    const pattern::Nest run = pattern::Nest::run(24);
    const pattern::Nest holes = pattern::Nest::repeat(pattern::Nest::run(8), 3, 16);
    struct Row {
        const char* name;
        const pattern::Nest* nest;
        std::int64_t extent;
        std::int64_t piece;
    };
    const std::vector<Row> table{
        {"no type", nullptr, 0, 1000},
        {"end to end", &run, 24, 1000},
        {"apart", &run, 32, 24},
        {"with holes", &holes, 48, 8},
    };
    for (const Row& row : table) {
        EXPECT_EQ(memory_piece({nullptr, row.nest, row.extent}, {0, 1000}), row.piece) << row.name;
    }
}

struct Case {
    FileStripes layout;
    NodeTopology topology;
    Tuning tuning;
    Summary all;
};

rc::Gen<Case> cases() {
    return rc::gen::exec([] {
        Case one;
        one.layout.targets = *rc::gen::inRange(1, 40);
        one.layout.stripe_bytes = one.layout.targets == 1 ? 0 : *rc::gen::inRange(1, 64) * 65536;
        one.topology =
            nodes_of(*rc::gen::inRange(1, 12), *rc::gen::inRange(1, 5), *rc::gen::inRange(1, 5));
        one.tuning.aggregators_max = *rc::gen::inRange(0, 20);
        one.tuning.window_bytes = *rc::gen::inRange<std::int64_t>(1, 16 * mib);
        one.tuning.staging_bytes_max = *rc::gen::inRange<std::int64_t>(8, 128) * mib;
        one.tuning.write = SwitchMode::enable;
        const std::int64_t begin = *rc::gen::inRange<std::int64_t>(0, 100 * mib);
        const std::int64_t length = *rc::gen::inRange<std::int64_t>(1, 40 * mib);
        one.all = Summary{begin, begin + length, length, 1, 1};
        return one;
    });
}

std::string text(const Plan& plan) { return describe(plan); }

RC_GTEST_PROP(PlanProperty, ATargetIsServedFromOneNodeByOneAggregator, ()) {
    const Case one = *cases();
    const Plan plan = make_plan(one.all, one.layout, one.topology, one.tuning, IoDirection::write);
    std::int32_t next = 0;
    std::set<std::pair<std::int32_t, std::int32_t>> places;
    for (const Aggregator& a : plan.aggregators) {
        RC_ASSERT(a.first_target == next);
        RC_ASSERT(a.targets > 0);
        next += a.targets;
        RC_ASSERT(places.emplace(a.node.value(), a.local.value()).second);
    }
    RC_ASSERT(next == plan.layout.targets);
}

RC_GTEST_PROP(PlanProperty, WindowsCoverTheSpanOnce, ()) {
    const Case one = *cases();
    const Plan plan = make_plan(one.all, one.layout, one.topology, one.tuning, IoDirection::write);
    std::vector<Extent> extents;
    Window window;
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(plan.aggregators.size()); ++a) {
        for (std::int64_t r = 0; r < plan.rounds_of(AggregatorId{a}); ++r) {
            window_by_span(plan, AggregatorId{a}, r, window);
            RC_ASSERT(window.bytes <= plan.window_bytes);
            for (const Extent& extent : window.extents) {
                RC_ASSERT(extent.begin.bytes() % plan.granularity == 0);
                extents.push_back(extent);
            }
        }
    }
    std::sort(extents.begin(), extents.end());
    Offset at = plan.span.begin;
    for (const Extent& extent : extents) {
        RC_ASSERT(extent.begin == at);
        at = extent.end();
    }
    RC_ASSERT(at == plan.span.end());
}

RC_GTEST_PROP(PlanProperty, DomainsKnowTheirPositions, ()) {
    const Case one = *cases();
    const Plan plan = make_plan(one.all, one.layout, one.topology, one.tuning, IoDirection::write);
    const Offset offset{*rc::gen::inRange<std::int64_t>(0, 1000 * mib)};
    const TargetId target = target_at(plan.layout, offset);
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(plan.aggregators.size()); ++a) {
        const Aggregator& aggregator = plan.aggregators[static_cast<std::size_t>(a)];
        const Domain domain = plan.domain(AggregatorId{a});
        const std::int64_t linear = domain.linear_at(offset);
        const bool own = target.value() >= aggregator.first_target &&
                         target.value() < aggregator.first_target + aggregator.targets;
        RC_ASSERT((domain.offset_at(linear) == offset) == own);
    }
}

TEST(Tuning, OnlyLocalWritesAreSmall) {
    Tuning tuning;
    const FileStripes striped{3, 1 << 16};
    EXPECT_EQ(request_bytes_max(tuning, FileStripes{}, IoDirection::write), 1 << 20);
    EXPECT_EQ(request_bytes_max(tuning, FileStripes{}, IoDirection::read), 4 << 20);
    EXPECT_EQ(request_bytes_max(tuning, striped, IoDirection::write), 4 << 20);
    EXPECT_EQ(window_bytes(tuning, FileStripes{}, IoDirection::write), 1 << 20);
    EXPECT_EQ(window_bytes(tuning, FileStripes{}, IoDirection::read), 4 << 20);
    tuning.request_bytes_max = 64 << 10;
    EXPECT_EQ(request_bytes_max(tuning, FileStripes{}, IoDirection::write), 64 << 10);
}

TEST(Plan, DescribesItself) { EXPECT_NE(text(Plan{}), ""); }

}  // namespace
}  // namespace forebay::plan
