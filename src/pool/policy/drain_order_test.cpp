// Tests which file is drained next and why, by tables.
#include "pool/policy/drain_order.hpp"

#include "foundation/base/bytes.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace forebay::pool {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t now_ns = 100'000 * ms;

const NodeSituation calm{.now_ns = now_ns, .quiet_ns = 50 * ms, .age_max_ns = 30'000 * ms};

// A file that was written to a moment ago: there is no reason to drain it.
const DrainCandidate fresh{.held_bytes = 1000,
                           .pressing_bytes = 5000,
                           .oldest_ns = now_ns - 10 * ms,
                           .written_ns = now_ns - 10 * ms};

template <class Change>
DrainCandidate changed(DrainCandidate one, const Change& change) {
    change(one);
    return one;
}

struct Row {
    std::string name;
    DrainCandidate candidate;
    NodeSituation situation;
    DrainReason why = DrainReason::none;
};

NodeSituation in(bool pressed, bool closing) {
    NodeSituation situation = calm;
    situation.pressed = pressed;
    situation.closing = closing;
    return situation;
}

TEST(DrainOrder, SaysWhyAFileIsDrained) {
    const auto with = [](const auto& change) { return changed(fresh, change); };
    const std::array rows{
        Row{"a burst is left alone", fresh, calm, DrainReason::none},
        Row{"nothing is held", with([](DrainCandidate& one) { one.held_bytes = 0; }),
            in(true, true), DrainReason::none},
        Row{"nobody wrote for a while",
            with([](DrainCandidate& one) { one.written_ns = now_ns - 50 * ms; }), calm,
            DrainReason::quiet},
        Row{"nearly for a while",
            with([](DrainCandidate& one) { one.written_ns = now_ns - 50 * ms + 1; }), calm,
            DrainReason::none},
        Row{"memory is short", fresh, in(true, false), DrainReason::pressure},
        Row{"half of its window", with([](DrainCandidate& one) { one.held_bytes = 5000; }), calm,
            DrainReason::pressure},
        Row{"a third of the greatest age",
            with([](DrainCandidate& one) { one.oldest_ns = now_ns - 10'001 * ms; }), calm,
            DrainReason::age},
        Row{"not quite a third",
            with([](DrainCandidate& one) { one.oldest_ns = now_ns - 10'000 * ms; }), calm,
            DrainReason::none},
        Row{"age goes before pressure", with([](DrainCandidate& one) {
                one.oldest_ns = now_ns - 10'001 * ms;
                one.held_bytes = 5000;
            }),
            in(true, false), DrainReason::age},
        Row{"somebody waits", with([](DrainCandidate& one) { one.asked = true; }), calm,
            DrainReason::asked},
        Row{"the node closes", fresh, in(false, true), DrainReason::asked},
        Row{"it has failed, and is to wait", with([](DrainCandidate& one) {
                one.retry_ns = now_ns + 1;
                one.oldest_ns = 0;
            }),
            in(true, true), DrainReason::none},
        Row{"it has failed, and somebody waits", with([](DrainCandidate& one) {
                one.retry_ns = now_ns + 1;
                one.asked = true;
            }),
            calm, DrainReason::asked},
        Row{"it has failed, and waited", with([](DrainCandidate& one) {
                one.retry_ns = now_ns;
                one.oldest_ns = 0;
            }),
            calm, DrainReason::age},
        Row{"held back", with([](DrainCandidate& one) {
                one.held_back = true;
                one.asked = true;
            }),
            in(true, true), DrainReason::none},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(why_to_drain(row.candidate, row.situation), row.why) << row.name;
    }
}

TEST(DrainOrder, TheMostUrgentFileIsNext) {
    const DrainCandidate quiet = changed(
        fresh, [](DrainCandidate& one) { one.written_ns = one.oldest_ns = now_ns - 90 * ms; });
    const DrainCandidate asked = changed(fresh, [](DrainCandidate& one) { one.asked = true; });
    const std::array all{fresh, quiet, asked};
    EXPECT_EQ(next_to_drain(all, calm), (DrainChoice{2, DrainReason::asked}));
    EXPECT_EQ(next_to_drain(std::span{all}.first(2), calm), (DrainChoice{1, DrainReason::quiet}));
    EXPECT_EQ(next_to_drain(std::span{all}.first(1), calm), std::nullopt);
    EXPECT_EQ(next_to_drain({}, calm), std::nullopt);
}

TEST(DrainOrder, OfTwoThatAreAsUrgentTheOneWithTheOldestByteIsNext) {
    const auto since = [](std::int64_t age) {
        return changed(fresh, [age](DrainCandidate& one) {
            one.asked = true;
            one.oldest_ns = now_ns - age * ms;
        });
    };
    const std::array all{since(20), since(30), since(30), since(10)};
    EXPECT_EQ(next_to_drain(all, calm), (DrainChoice{1, DrainReason::asked}));
}

TEST(DrainOrder, AJobIsAPartOfWhatBoundsItAndAtLeastARequest) {
    struct Sizes {
        std::int64_t window, cap, request, job;
    };
    const std::array rows{
        Sizes{256 * mib, 1024 * mib, 4 * mib, 32 * mib},
        Sizes{256 * mib, 64 * mib, 4 * mib, 8 * mib},
        Sizes{16 * mib, 1024 * mib, 4 * mib, 4 * mib},
        Sizes{4096 * mib, 8192 * mib, 4 * mib, 64 * mib},
        Sizes{0, 0, 1 * mib, 1 * mib},
    };
    for (const Sizes& row : rows) {
        EXPECT_EQ(job_bytes(row.window, row.cap, row.request), row.job)
            << row.window << " " << row.cap;
    }
}

TEST(DrainOrder, OfALargeWindowMoreIsLeftAlone) {
    EXPECT_EQ(worthwhile_bytes(1), 16 * mib);
    EXPECT_EQ(worthwhile_bytes(256 * mib), 16 * mib);
    EXPECT_EQ(worthwhile_bytes(1024 * mib), 64 * mib);
}

TEST(DrainOrder, AFileOfShortRunsTakesAQuarterOfAPlace) {
    constexpr std::int64_t kib = 1024;
    EXPECT_EQ(shares_of(4 * mib, 1), shares_of_file);
    EXPECT_EQ(shares_of(64 * kib, 1), shares_of_file);
    EXPECT_EQ(shares_of(4 * mib, 65), 1);
    EXPECT_EQ(shares_of(100, 1), 1);
}

Extent at(std::int64_t begin, std::int64_t length) { return {Offset{begin}, Length{length}}; }

TEST(FirstInFirstOut, TimeCountsThenTheOrderOfTheLog) {
    EXPECT_LT((Turn{5, 9, 900}), (Turn{6, 1, 100}));
    EXPECT_LT((Turn{5, 1, 100}), (Turn{5, 1, 200})) << "one write in parts";
    EXPECT_LT((Turn{5, 1, 900}), (Turn{5, 2, 100}));
}

TEST(FirstInFirstOut, ABlockTakesWhatFollowsUntilItIsFull) {
    FifoBlock block{{.bytes = 1024 * kib, .pieces = 100}};
    EXPECT_EQ(block.add(at(5, 600 * kib)), Length{600 * kib});
    EXPECT_EQ(block.add(at(5 + 600 * kib, 600 * kib)), Length{424 * kib}) << "its beginning";
    EXPECT_EQ(block.add(at(5 + 1024 * kib, kib)), Length{0}) << "it is full";
}

TEST(FirstInFirstOut, ABlockEndsBeforeWhatLiesElsewhere) {
    for (const std::int64_t begin : {0L, 7 * kib, 9 * kib, 100 * kib}) {
        FifoBlock block{{.bytes = 1024 * kib, .pieces = 100}};
        EXPECT_EQ(block.add(at(4 * kib, 4 * kib)), Length{4 * kib});
        EXPECT_EQ(block.add(at(begin, kib)), Length{0}) << begin;
    }
}

TEST(FirstInFirstOut, ABlockHasNoMorePiecesThanItMay) {
    FifoBlock block{{.bytes = 1024 * kib, .pieces = 2}};
    EXPECT_EQ(block.add(at(0, kib)), Length{kib});
    EXPECT_EQ(block.add(at(kib, kib)), Length{kib});
    EXPECT_EQ(block.add(at(2 * kib, kib)), Length{0});
}

}  // namespace
}  // namespace forebay::pool
