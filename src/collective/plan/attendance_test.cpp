// Ranks come to non-blocking calls, in every order of a few ranks and calls.
#include "collective/plan/attendance.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::plan {
namespace {

TEST(CallAttendance, IsPackedIntoAWord) {
    EXPECT_EQ(packed({}), 0U);
    const CallAttendance all{65535, (1U << 24) - 1, CallAttendance::ranks_max,
                             MeetingKind::together};
    EXPECT_EQ(unpacked(packed(all)), all);
    const CallAttendance one{3, 70000, 12, MeetingKind::open};
    EXPECT_EQ(unpacked(packed(one)), one);
}

TEST(CallAttendance, TheLastOfAllRanksMakesItTogether) {
    CallAttendance now;
    for (std::uint32_t rank = 1; rank <= 3; ++rank) {
        const auto next = with_me(now, {.file = 1, .call = 1, .ranks = 3});
        ASSERT_TRUE(next);
        EXPECT_EQ(next->arrived, rank);
        EXPECT_EQ(next->meeting, rank < 3 ? MeetingKind::open : MeetingKind::together);
        now = *next;
    }
}

TEST(CallAttendance, WhoComesLateGoesAlone) {
    const RankArrival me{.file = 1, .call = 5, .ranks = 2};
    EXPECT_FALSE(with_me({1, 5, 1, MeetingKind::alone}, me)) << "somebody gave up";
    EXPECT_FALSE(with_me({1, 6, 1, MeetingKind::open}, me)) << "others are at the next call";
    EXPECT_FALSE(with_me({2, 1, 1, MeetingKind::open}, me)) << "others wait at another file's call";
    EXPECT_TRUE(with_me({2, 1, 2, MeetingKind::together}, me));
    EXPECT_TRUE(with_me({1, 4, 1, MeetingKind::open}, me)) << "this rank goes on before them";
    const RankArrival first{.file = 1, .call = 0, .ranks = 2};
    EXPECT_TRUE(with_me({1, CallAttendance::calls - 1, 2, MeetingKind::alone}, first))
        << "numbers go round";
    EXPECT_EQ(of_call({1, 6, 1, MeetingKind::open}, me), MeetingKind::alone);
    EXPECT_EQ(of_call({2, 5, 1, MeetingKind::together}, me), MeetingKind::alone);
    EXPECT_EQ(of_call({1, 5, 2, MeetingKind::together}, me), MeetingKind::together);
}

// Ranks go through calls of one file; at each step one of them comes, looks, or gives up.
struct Walk {
    static constexpr std::uint32_t ranks = 2;
    static constexpr std::uint32_t calls = 2;
    struct Rank {
        std::uint32_t call = 1;
        bool waits = false;
        std::array<bool, calls + 1> together{};
    };
    CallAttendance word;
    std::array<Rank, ranks> all;

    void decided(Rank& rank, bool together) {
        rank.together[rank.call] = together;
        rank.waits = false;
        ++rank.call;
    }
    // One step of rank `number`: it comes to its next call or, while it waits, gives up
    // (`gives_up`) or looks at the word.
    void step(std::size_t number, bool gives_up) {
        Rank& rank = all[number];
        if (rank.call > 1 && rank.together[rank.call - 1] && all[1 - number].call < rank.call) {
            return;  // in an exchange, which needs the other one
        }
        const RankArrival me{.file = 1, .call = rank.call, .ranks = ranks};
        if (!rank.waits) {
            const auto next = with_me(word, me);
            if (!next) {
                decided(rank, false);
                return;
            }
            word = *next;
            rank.waits = true;
        }
        const MeetingKind meeting = of_call(word, me);
        if (meeting != MeetingKind::open) {
            decided(rank, meeting == MeetingKind::together);
        } else if (gives_up) {
            word = given_up(word);
            decided(rank, false);
        }
    }
    void everything(int depth) {
        const bool ended =
            std::ranges::all_of(all, [](const Rank& one) { return one.call > calls; });
        if (ended) {
            for (std::uint32_t call = 1; call <= calls; ++call) {
                EXPECT_EQ(all[0].together[call], all[1].together[call]);
            }
            return;
        }
        for (std::size_t number = 0; number < ranks && depth < 12; ++number) {
            for (const bool gives_up : {false, true}) {
                if (all[number].call <= calls) {
                    Walk next = *this;
                    next.step(number, gives_up);
                    next.everything(depth + 1);
                }
            }
        }
    }
};

TEST(CallAttendance, AllRanksComeToTheSameAnswerInEveryOrder) { Walk{}.everything(0); }

TEST(Patience, IsWhatPiecesCostMore) {
    Summary asked{.begin = 0, .end = 4096, .bytes = 4096, .shortest_piece = 1024};
    EXPECT_EQ(patience_ns(asked, 4096), 800);
    EXPECT_EQ(patience_ns(asked, 256), 3200) << "pieces of memory count, too";
    asked.bytes = std::int64_t{1} << 40;
    EXPECT_EQ(patience_ns(asked, 4096), 2'000'000) << "there is an end to it";
    asked.shortest_piece = 65536;
    EXPECT_EQ(patience_ns(asked, 65536), 0);
    EXPECT_GT(patience_ns({}, 1), 0) << "who has nothing to write waits for the others";
}

}  // namespace
}  // namespace forebay::plan
