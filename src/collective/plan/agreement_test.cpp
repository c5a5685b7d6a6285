// Votes merged in any order give the worst of each field; and how many bytes a rank may then call
// moved.
#include "collective/plan/agreement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace forebay::plan {
namespace {

static_assert(std::is_trivially_copyable_v<AgreementVote>, "it travels as it is");

AgreementVote refusing(Refusal refusal) {
    AgreementVote vote;
    vote.refusal = refusal;
    return vote;
}

AgreementVote failing(std::int64_t at, std::int32_t system) {
    AgreementVote vote;
    vote.failure = {at, 1, system};
    return vote;
}

TEST(AgreementVote, TheWorstOfEachCounts) {
    AgreementVote cannot;
    cannot.cannot_bypass = 1;
    AgreementVote holes;
    holes.view_has_holes = 1;
    AgreementVote ends;
    ends.end_of_file = 700;
    AgreementVote both = cannot;
    both.view_has_holes = 1;
    AgreementVote both_end = ends;
    both_end.end_of_file = 500;
    struct Row {
        const char* name;
        AgreementVote a;
        AgreementVote b;
        AgreementVote all;
    };
    const std::vector<Row> table{
        {"nothing", {}, {}, {}},
        {"one refuses", {}, refusing(Refusal::disabled), refusing(Refusal::disabled)},
        {"the largest reason", refusing(Refusal::disabled), refusing(Refusal::gpu_memory),
         refusing(Refusal::gpu_memory)},
        {"one fails", {}, failing(100, 5), failing(100, 5)},
        {"the lowest offset", failing(300, 28), failing(100, 5), failing(100, 5)},
        {"flags add up", cannot, holes, both},
        {"the nearest end", ends, both_end, both_end},
    };
    for (const Row& row : table) {
        EXPECT_EQ(merge(row.a, row.b), row.all) << row.name;
        EXPECT_EQ(merge(row.b, row.a), row.all) << row.name;
    }
}

AgreementVote any_vote() {
    AgreementVote vote;
    const std::int64_t begin = *rc::gen::inRange<std::int64_t>(0, 1000);
    const std::int64_t bytes = *rc::gen::inRange<std::int64_t>(0, 100);
    vote.summary = {begin, begin + bytes, bytes, 4, 4};
    vote.direct = {begin, begin + bytes / 2, bytes / 2, 8, 4};
    // Two failures at one offset need not be told apart.
    const std::int64_t at = *rc::gen::inRange<std::int64_t>(0, 1000);
    vote.failure = {at, static_cast<std::uint32_t>(at % 4), static_cast<std::int32_t>(at)};
    vote.end_of_file = *rc::gen::inRange<std::int64_t>(0, 1000);
    vote.refusal = static_cast<Refusal>(*rc::gen::inRange(0, 11));
    vote.cannot_bypass = *rc::gen::inRange(0U, 2U);
    vote.view_has_holes = *rc::gen::inRange(0U, 2U);
    vote.rates.targets = *rc::gen::inRange(0, 9);
    return vote;
}

RC_GTEST_PROP(AgreementVoteProperty, NodesMayMergeFirst, ()) {
    const AgreementVote a = any_vote();
    const AgreementVote b = any_vote();
    const AgreementVote c = any_vote();
    const AgreementVote left = merge(merge(a, b), c);
    RC_ASSERT(left == merge(a, merge(b, c)));
}

TEST(Refusal, EachHasItsOwnReason) {
    std::set<std::string> reasons;
    for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(Refusal::other); ++i) {
        EXPECT_TRUE(reasons.insert(reason_of(static_cast<Refusal>(i))).second) << i;
    }
}

TEST(BytesMoved, LieBelowTheFirstErrorAndTheEndOfTheFile) {
    // 10 bytes in each 100, from byte 1000 on; the request is its bytes 20 to 59.
    const pattern::View view =
        *pattern::View::make(Offset{1000}, pattern::Nest::run(10), Length{100}, Length{1});
    const pattern::ViewRange request{20, 40};
    constexpr std::int64_t nowhere = FirstFailure::nowhere;
    struct Row {
        std::int64_t failed_at;
        std::int64_t end_of_file;
        std::optional<std::int64_t> own_end;
        std::int64_t moved;
    };
    const std::vector<Row> table{
        {nowhere, nowhere, {}, 40},  // all is well
        {1200, nowhere, {}, 0},      // at its first byte
        {0, nowhere, {}, 0},         // below it
        {1305, nowhere, {}, 15},     // in its second piece
        {1350, nowhere, {}, 20},     // in a hole
        {9999, nowhere, {}, 40},     // beyond it
        {nowhere, 1305, {}, 15},     // a short file
        {1305, 1405, {}, 15},        // the lower counts
        {1405, 1305, {}, 15},        // whichever it is
        {nowhere, 1305, 1405, 25},   // it met the end itself
        {1305, nowhere, 1405, 15},   // which excuses no error
    };
    for (const Row& row : table) {
        AgreementVote verdict;
        verdict.failure.at = row.failed_at;
        verdict.end_of_file = row.end_of_file;
        EXPECT_EQ(bytes_moved(view, request, verdict, row.own_end), row.moved)
            << "failed at " << row.failed_at << ", ends at " << row.end_of_file;
    }
}

}  // namespace
}  // namespace forebay::plan
