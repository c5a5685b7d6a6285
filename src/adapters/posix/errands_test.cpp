// Errands end in any order, and one that hangs keeps no other.
#include "adapters/posix/errands.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>

namespace forebay::adapters {
namespace {

void collect(ErrandThreads& errands, std::map<std::uint64_t, std::int64_t>& answers,
             std::size_t count) {
    while (answers.size() < count) {
        for (const ports::Errands::Ended& one : errands.ended()) {
            EXPECT_TRUE(answers.emplace(one.ticket, one.answer).second) << "each comes once";
        }
        std::this_thread::yield();
    }
}

TEST(ErrandThreads, OneThatHangsKeepsNoOther) {
    ErrandThreads errands;
    std::atomic<bool> go_on{false};
    errands.begin(1, [&] {
        go_on.wait(false);
        return 10;
    });
    errands.begin(2, [] { return 20; });
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 1);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{2, 20}}));
    go_on = true;
    go_on.notify_all();
    collect(errands, answers, 2);
    EXPECT_EQ(answers[1], 10);
    EXPECT_TRUE(errands.ended().empty());
}

TEST(ErrandThreads, MoreThanThereAreThreadsAreDoneInTurn) {
    ErrandThreads errands;
    constexpr std::size_t count = 3 * ErrandThreads::threads_max;
    for (std::uint64_t i = 0; i < count; ++i) {
        errands.begin(i, [i] { return static_cast<std::int64_t>(2 * i); });
    }
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, count);
    for (const auto& [ticket, answer] : answers) {
        EXPECT_EQ(answer, static_cast<std::int64_t>(2 * ticket));
    }
}

}  // namespace
}  // namespace forebay::adapters
