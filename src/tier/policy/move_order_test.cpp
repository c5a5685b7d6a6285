// Tests which file is moved next and why, and when the job's end presses, by tables and properties.
#include "tier/policy/move_order.hpp"

#include "foundation/base/bytes.hpp"

#include <array>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t now = 10'000 * second;
const MoveSituation calm{.now_ns = now, .age_max_ns = 600 * second};

// A file that a program is writing to.
const MoveCandidate busy{
    .bytes = 1000, .dirtied_ns = now - 10 * second, .written_ns = now - 2 * second, .open = true};

template <class Change>
MoveCandidate changed(const Change& change) {
    MoveCandidate one = busy;
    change(one);
    return one;
}

TEST(MoveOrder, SaysWhyAFileIsMoved) {
    struct Row {
        std::string name;
        MoveCandidate candidate;
        MoveSituation situation;
        MoveReason why = MoveReason::none;
    };
    MoveSituation pressed = calm;
    pressed.pressed = true;
    MoveSituation ending = pressed;
    ending.job_ends = true;
    const auto idle = [](std::int64_t idle_ns) {
        return changed([idle_ns](MoveCandidate& one) {
            one.trigger = MoveTrigger::at_idle;
            one.idle_ns = idle_ns;
        });
    };
    const auto large = [](std::int64_t bytes) {
        return changed([bytes](MoveCandidate& one) {
            one.trigger = MoveTrigger::at_size;
            one.size_bytes = bytes;
        });
    };
    const MoveCandidate manual =
        changed([](MoveCandidate& one) { one.trigger = MoveTrigger::manual; });
    const std::array rows{
        Row{"it is open", busy, calm, MoveReason::none},
        Row{"it was closed", changed([](MoveCandidate& one) { one.open = false; }), calm,
            MoveReason::trigger},
        Row{"idle for long enough", idle(2 * second), calm, MoveReason::trigger},
        Row{"not idle for long enough", idle(2 * second + 1), calm, MoveReason::none},
        Row{"large enough", large(1000), calm, MoveReason::trigger},
        Row{"not large enough", large(1001), calm, MoveReason::none},
        Row{"at the job's end, which is not yet",
            changed([](MoveCandidate& one) { one.trigger = MoveTrigger::at_job_end; }), calm,
            MoveReason::none},
        Row{"fast storage fills up", busy, pressed, MoveReason::pressure},
        Row{"too old", changed([](MoveCandidate& one) { one.dirtied_ns = now - 600 * second; }),
            pressed, MoveReason::age},
        Row{"the job ends", busy, ending, MoveReason::job_end},
        Row{"a manual one stays", manual, calm, MoveReason::none},
        Row{"also at the job's end, but under pressure", manual, ending, MoveReason::pressure},
        Row{"somebody waits", changed([](MoveCandidate& one) { one.asked = true; }), ending,
            MoveReason::asked},
        Row{"it is under way", changed([](MoveCandidate& one) {
                one.asked = true;
                one.under_way = true;
            }),
            ending, MoveReason::none},
        Row{"it has failed, and is to wait",
            changed([](MoveCandidate& one) { one.retry_ns = now + 1; }), ending, MoveReason::none},
        Row{"but not for those who wait", changed([](MoveCandidate& one) {
                one.retry_ns = now + 1;
                one.asked = true;
            }),
            ending, MoveReason::asked},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(why_to_move(row.candidate, row.situation), row.why) << row.name;
    }
}

TEST(MoveOrder, UnderPressureTheLargestGoesFirst) {
    MoveSituation pressed = calm;
    pressed.pressed = true;
    const std::array files{busy, changed([](MoveCandidate& one) { one.bytes = 2000; }),
                           changed([](MoveCandidate& one) {
                               one.bytes = 2000;
                               one.dirtied_ns -= 1;
                           })};
    EXPECT_EQ(next_to_move(files, pressed), (MoveChoice{2, MoveReason::pressure}));
    EXPECT_EQ(next_to_move(files, calm), std::nullopt);
}

RC_GTEST_PROP(NextToMove, HasTheMostUrgentReasonAndNobodyWaitedLonger, ()) {
    std::vector<MoveCandidate> files(*rc::gen::inRange<std::size_t>(0, 6), busy);
    for (MoveCandidate& one : files) {
        one.open = *rc::gen::arbitrary<bool>();
        one.asked = *rc::gen::inRange(0, 4) == 0;
        one.dirtied_ns = now - *rc::gen::inRange<std::int64_t>(0, 700) * second;
    }
    const auto next = next_to_move(files, calm);
    for (const MoveCandidate& one : files) {
        const MoveReason why = why_to_move(one, calm);
        RC_ASSERT(next || why == MoveReason::none);
        RC_ASSERT(!next || why <= next->why);
        RC_ASSERT(!next || why != next->why || files[next->candidate].dirtied_ns <= one.dirtied_ns);
    }
}

TEST(MoveDeadlines, PassEarlyEnoughForTheSlowestRate) {
    MoveDeadline deadline{now + 1000 * second, 100 * second};
    EXPECT_EQ(deadline.latest_begin_ns(0), now + 900 * second);
    EXPECT_EQ(deadline.latest_begin_ns(1'000'000'000), now + 890 * second)
        << "100 MB/s are assumed";
    deadline.record_move(100'000'000, second / 2);
    EXPECT_EQ(deadline.latest_begin_ns(1'000'000'000), now + 895 * second);
    deadline.record_move(100'000'000, 4 * second);
    EXPECT_EQ(deadline.latest_begin_ns(1'000'000'000), now + 860 * second);
    deadline.record_move(1000, 1000 * second);
    EXPECT_EQ(deadline.latest_begin_ns(1'000'000'000), now + 860 * second)
        << "a small file tells no rate";
    for (std::size_t i = 0; i < MoveDeadline::rates_max; ++i) {
        deadline.record_move(100'000'000, second);
    }
    EXPECT_EQ(deadline.latest_begin_ns(1'000'000'000), now + 890 * second) << "it was long ago";
    EXPECT_TRUE(deadline.passed(now + 890 * second, 1'000'000'000));
    EXPECT_FALSE(deadline.passed(now + 890 * second - 1, 1'000'000'000));
    EXPECT_TRUE(deadline.passed(0, std::numeric_limits<std::int64_t>::max()));
}

TEST(MoveDeadlines, WithoutAnEndNeverPass) {
    const MoveDeadline deadline{MoveDeadline::never, 100 * second};
    EXPECT_FALSE(deadline.passed(now, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace forebay::tier
