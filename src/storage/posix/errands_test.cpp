// Errands end in any order, and one that hangs keeps no other.
#include "storage/posix/errands.hpp"

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

// Something that errands wait for, as a file system that hangs.
class Gate {
public:
    void pass() const { open_.wait(false); }
    void open() {
        open_ = true;
        open_.notify_all();
    }

private:
    std::atomic<bool> open_{false};
};

TEST(ErrandThreads, OneThatHangsKeepsNoOther) {
    ErrandThreads errands;
    Gate gate;
    errands.begin(1, [&] {
        gate.pass();
        return 10;
    });
    errands.begin(2, [] { return 20; });
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 1);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{2, 20}}));
    gate.open();
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

TEST(ErrandThreads, WhatNobodyWaitsForBeginsLater) {
    ErrandThreads errands;
    std::atomic<int> begun{0};
    errands.begin_later(1, [&] { return ++begun; });
    errands.begin_later(2, [&] { return ++begun; });
    Gate done;
    errands.begin(3, [&] {
        done.open();
        return begun.load();
    });
    done.pass();
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 3);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{1, 1}, {2, 2}, {3, 0}}));
}

TEST(ErrandThreads, ItBeginsAtOnceWhereSomebodyIsInAHurryOrThereAreMany) {
    ErrandThreads errands;
    std::atomic<std::size_t> begun{0};
    const auto call = [&] {
        ++begun;
        begun.notify_all();
        return 0;
    };
    errands.begin_later(0, call);
    errands.hurry();
    begun.wait(0);
    for (std::uint64_t i = 1; i <= ErrandThreads::later_max; ++i) {
        errands.begin_later(i, call);
    }
    for (std::size_t now = begun; now < 1 + ErrandThreads::later_max; now = begun) {
        begun.wait(now);
    }
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 1 + ErrandThreads::later_max);
}

TEST(ErrandThreads, WhatSomebodyWaitsForGoesFirst) {
    ErrandThreads errands;
    Gate gate;
    std::atomic<int> begun{0};
    for (std::uint64_t i = 1; i < 10; ++i) {
        errands.begin_later(i, [&] {
            gate.pass();
            return ++begun;
        });
    }
    errands.hurry();
    errands.begin(0, [&] { return begun.load(); });
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 1);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{0, 0}}));
    gate.open();
    collect(errands, answers, 10);
}

TEST(ErrandThreads, OneOfManyThatHangsKeepsNoOther) {
    ErrandThreads errands;
    Gate gate;
    errands.begin_later(0, [&] {
        gate.pass();
        return 0;
    });
    for (std::uint64_t i = 1; i < 10; ++i) {
        errands.begin_later(i, [] { return 0; });
    }
    errands.hurry();
    std::map<std::uint64_t, std::int64_t> answers;
    collect(errands, answers, 9);
    EXPECT_FALSE(answers.contains(0));
    gate.open();
    collect(errands, answers, 10);
}

}  // namespace
}  // namespace forebay::adapters
