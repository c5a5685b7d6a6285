// Background tasks end in any order, and one that hangs does not block others.
#include "storage/posix/background_io.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>

namespace forebay::adapters {
namespace {

void collect(BackgroundThreads& background_io, std::map<std::uint64_t, std::int64_t>& answers,
             std::size_t count) {
    while (answers.size() < count) {
        for (const ports::BackgroundIo::Ended& one : background_io.ended()) {
            EXPECT_TRUE(answers.emplace(one.ticket, one.answer).second) << "each comes once";
        }
        std::this_thread::yield();
    }
}

// A gate on which tasks block, as on a file system that hangs.
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

TEST(BackgroundThreads, OneThatHangsKeepsNoOther) {
    BackgroundThreads background_io;
    Gate gate;
    background_io.begin(1, [&] {
        gate.pass();
        return 10;
    });
    background_io.begin(2, [] { return 20; });
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, 1);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{2, 20}}));
    gate.open();
    collect(background_io, answers, 2);
    EXPECT_EQ(answers[1], 10);
    EXPECT_TRUE(background_io.ended().empty());
}

TEST(BackgroundThreads, MoreThanThereAreThreadsAreDoneInTurn) {
    BackgroundThreads background_io;
    constexpr std::size_t count = 3 * BackgroundThreads::threads_max;
    for (std::uint64_t i = 0; i < count; ++i) {
        background_io.begin(i, [i] { return static_cast<std::int64_t>(2 * i); });
    }
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, count);
    for (const auto& [ticket, answer] : answers) {
        EXPECT_EQ(answer, static_cast<std::int64_t>(2 * ticket));
    }
}

TEST(BackgroundThreads, WhatNobodyWaitsForBeginsLater) {
    BackgroundThreads background_io;
    std::atomic<int> begun{0};
    background_io.begin_later(1, [&] { return ++begun; });
    background_io.begin_later(2, [&] { return ++begun; });
    Gate done;
    background_io.begin(3, [&] {
        done.open();
        return begun.load();
    });
    done.pass();
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, 3);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{1, 1}, {2, 2}, {3, 0}}));
}

TEST(BackgroundThreads, ItBeginsAtOnceWhereSomebodyIsInAHurryOrThereAreMany) {
    BackgroundThreads background_io;
    std::atomic<std::size_t> begun{0};
    const auto call = [&] {
        ++begun;
        begun.notify_all();
        return 0;
    };
    background_io.begin_later(0, call);
    background_io.hurry();
    begun.wait(0);
    for (std::uint64_t i = 1; i <= BackgroundThreads::later_max; ++i) {
        background_io.begin_later(i, call);
    }
    for (std::size_t now = begun; now < 1 + BackgroundThreads::later_max; now = begun) {
        begun.wait(now);
    }
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, 1 + BackgroundThreads::later_max);
}

TEST(BackgroundThreads, WhatSomebodyWaitsForGoesFirst) {
    BackgroundThreads background_io;
    Gate gate;
    std::atomic<int> begun{0};
    for (std::uint64_t i = 1; i < 10; ++i) {
        background_io.begin_later(i, [&] {
            gate.pass();
            return ++begun;
        });
    }
    background_io.hurry();
    background_io.begin(0, [&] { return begun.load(); });
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, 1);
    EXPECT_EQ(answers, (std::map<std::uint64_t, std::int64_t>{{0, 0}}));
    gate.open();
    collect(background_io, answers, 10);
}

TEST(BackgroundThreads, OneOfManyThatHangsKeepsNoOther) {
    BackgroundThreads background_io;
    Gate gate;
    background_io.begin_later(0, [&] {
        gate.pass();
        return 0;
    });
    for (std::uint64_t i = 1; i < 10; ++i) {
        background_io.begin_later(i, [] { return 0; });
    }
    background_io.hurry();
    std::map<std::uint64_t, std::int64_t> answers;
    collect(background_io, answers, 9);
    EXPECT_FALSE(answers.contains(0));
    gate.open();
    collect(background_io, answers, 10);
}

}  // namespace
}  // namespace forebay::adapters
