// Features specific to MemoryWorld: runs that repeat exactly, actors that die at a given step, and
// reports of who waits for what. The contracts of its ports are in communicator_test.cpp and
// storage_test.cpp.
#include "worlds/memory/world.hpp"

#include "worlds/memory/world_cluster.hpp"
#include "worlds/memory/world_storage.hpp"

#include <array>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace forebay::adapters {

namespace {

NodesOptions cluster(std::vector<std::int32_t> sizes) {
    NodesOptions options;
    options.node_sizes = std::move(sizes);
    options.node_bytes = 1 << 20;
    return options;
}

// Two words at the start of node memory.
struct Board {
    ports::Word ping;
    ports::Word pong;
};

Board& board_of(ports::Communicator& communicator) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory, zero is valid
    return *reinterpret_cast<Board*>(communicator.node_memory().data());
}

// A race: two actors each read a number and store it incremented a step later, which is right only
// if they do not interleave. Returns the number and the world's ending.
std::pair<int, WorldEnding> add_without_care(std::uint64_t seed) {
    MemoryWorld world{{.seed = seed}};
    int sum = 0;
    for (const char* name : {"one", "other"}) {
        world.spawn(name, [&] {
            for (int i = 0; i < 3; ++i) {
                const int seen = sum;
                world.step({"think", i});
                sum = seen + 1;
                world.sleep(world.draw(1000));
            }
        });
    }
    WorldEnding ending = world.run();
    return {sum, std::move(ending)};
}

TEST(MemoryWorld, AFailingSeedFailsAgainInTheSameWay) {
    std::set<int> sums;
    std::set<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto [sum, ending] = add_without_care(seed);
        const auto [again, same] = add_without_care(seed);
        ASSERT_EQ(sum, again) << "seed " << seed;
        ASSERT_EQ(ending.trace, same.trace) << "seed " << seed;
        ASSERT_EQ(ending.now_ns, same.now_ns) << "seed " << seed;
        ASSERT_EQ(ending.report, same.report) << "seed " << seed;
        sums.insert(sum);
        traces.insert(ending.trace);
    }
    EXPECT_GE(sums.size(), 3U) << "some are right, others wrong in several ways";
    EXPECT_EQ(*sums.rbegin(), 6);
    EXPECT_GT(traces.size(), 190U) << "seeds differ";
}

TEST(MemoryWorld, SaysWhoWaitsOnWhatWhenItIsStuck) {
    MemoryWorld world{{.leaks = LeakReports::ignored}};
    const WorldEnding ending =
        run_ranks(world, cluster({1, 1}), [](ports::Communicator& communicator) {
            Board& board = board_of(communicator);
            if (communicator.place().rank.value() == 0) {
                communicator.wait(board.ping, 0);
            }
        });
    EXPECT_EQ(ending.kind, WorldEnding::Kind::stuck);
    EXPECT_NE(ending.report.find("is stuck (nobody can go on"), std::string::npos) << ending.report;
    EXPECT_NE(ending.report.find("rank 0: waits on word 0"), std::string::npos) << ending.report;
    EXPECT_NE(ending.report.find("rank 1: ended"), std::string::npos) << ending.report;
}

TEST(MemoryWorld, IsStuckWhereEverybodyLooksAgainAndAgain) {
    MemoryWorld world{{.quiet_ns_max = 10'000'000, .leaks = LeakReports::ignored}};
    const WorldEnding ending =
        run_ranks(world, cluster({2}), [](ports::Communicator& communicator) {
            Board& board = board_of(communicator);
            while (board.ping.load() == 0) {
                communicator.wait_briefly(board.ping, 0);
            }
        });
    EXPECT_EQ(ending.kind, WorldEnding::Kind::stuck);
    EXPECT_LT(ending.steps, 1000);
}

TEST(MemoryWorld, AWakeThatIsForgottenIsFound) {
    const auto run = [](bool wakes) {
        MemoryWorld world{{.leaks = LeakReports::ignored}};
        return run_ranks(world, cluster({2}), [wakes](ports::Communicator& communicator) {
            Board& board = board_of(communicator);
            if (communicator.place().leader()) {
                communicator.wait(board.ping, 0);
                return;
            }
            communicator.wait_briefly(board.pong, 0);  // the leader runs first
            board.ping.store(1);
            if (wakes) {
                communicator.wake(board.ping);
            }
        });
    };
    EXPECT_EQ(run(true).kind, WorldEnding::Kind::ended);
    EXPECT_EQ(run(false).kind, WorldEnding::Kind::stuck);
}

TEST(MemoryWorld, TimePassesWhileAllSleep) {
    MemoryWorld world;
    std::int64_t woke = 0;
    world.spawn("sleeper", [&] {
        world.sleep(5'000'000'000);
        woke = world.now_ns();
    });
    EXPECT_EQ(world.run().kind, WorldEnding::Kind::ended);
    EXPECT_GE(woke, 5'000'000'000);
    EXPECT_LT(woke, 5'000'100'000);
}

// A daemon that writes one byte after another, acknowledges each, and is killed at `step`.
struct Killed {
    std::int64_t acknowledged = 0;
    std::int64_t written = 0;
    std::int64_t steps = 0;
    bool alive_in_the_end = false;
};

Killed write_until_killed(std::uint64_t seed, std::optional<std::int64_t> step) {
    MemoryWorld world{{.seed = seed}};
    MemoryFile file;
    Killed killed;
    world.spawn("daemon", [&] {
        const auto opened = open_memory(world, file, IoDirection::write);
        for (std::int64_t i = 0; i < 5; ++i) {
            std::array<std::byte, 1> byte{std::byte{1}};
            const ports::Piece piece{Offset{i}, byte};
            ports::RequestCompletion done;
            (*opened)->submit({IoDirection::write, 0, {&piece, 1}});
            EXPECT_EQ((*opened)->wait({&done, 1}), 1U);
            EXPECT_EQ(done.bytes, Length{1});
            killed.acknowledged = i + 1;
        }
    });
    if (step) {
        world.kill("daemon", *step);
    }
    const WorldEnding ending = world.run();
    EXPECT_EQ(ending.kind, WorldEnding::Kind::ended) << ending.report;
    killed.written = file.size().bytes();
    killed.steps = world.steps("daemon");
    killed.alive_in_the_end = world.alive("daemon");
    return killed;
}

TEST(MemoryWorld, AnActorDiesAtAnyStepAndLosesNothingThatWasAcknowledged) {
    const std::int64_t steps = write_until_killed(1, {}).steps;
    ASSERT_GT(steps, 10);
    int written_but_not_acknowledged = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
        const Killed killed = write_until_killed(1, step);
        EXPECT_EQ(killed.steps, step);
        EXPECT_FALSE(killed.alive_in_the_end);
        EXPECT_LT(killed.acknowledged, 5);
        EXPECT_GE(killed.written, killed.acknowledged);
        EXPECT_LE(killed.written, killed.acknowledged + 1);
        written_but_not_acknowledged += killed.written > killed.acknowledged ? 1 : 0;
    }
    EXPECT_GT(written_but_not_acknowledged, 0) << "died between the two";
    EXPECT_EQ(write_until_killed(1, steps).acknowledged, 5) << "it had ended before";
}

TEST(MemoryWorld, WhatADeadActorHadUnderWayIsDoneOrNot) {
    std::set<std::int64_t> sizes;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MemoryWorld world{{.seed = seed}};
        MemoryFile file;
        world.spawn("writer", [&] {
            std::array<std::byte, 1000> bytes{};
            const ports::Piece piece{Offset{0}, bytes};
            const auto opened = open_memory(world, file, IoDirection::write);
            (*opened)->submit({IoDirection::write, 0, {&piece, 1}});
            world.step({"die"});
        });
        world.kill("writer", 2);
        EXPECT_EQ(world.run().kind, WorldEnding::Kind::ended);
        EXPECT_FALSE(world.alive("writer"));
        sizes.insert(file.size().bytes());
    }
    EXPECT_EQ(sizes, (std::set<std::int64_t>{0, 1000}));
}

TEST(MemoryWorld, OthersFindADeadActorAndStartItAgain) {
    MemoryWorld world;
    int starts = 0;
    const auto daemon = [&] {
        ++starts;
        world.sleep(1000);
        world.sleep(1000);
    };
    world.spawn("daemon", daemon);
    world.kill("daemon", 1);
    world.spawn("watcher", [&] {
        while (world.alive("daemon")) {
            world.sleep(10'000);
        }
        world.spawn("daemon", daemon);
    });
    const WorldEnding ending = world.run();
    EXPECT_EQ(ending.kind, WorldEnding::Kind::ended) << ending.report;
    EXPECT_EQ(starts, 2);
    EXPECT_EQ(world.steps("daemon"), 2) << "the second one is not killed";
}

TEST(MemoryWorld, AllDieAtAStepOfTheWorld) {
    for (std::int64_t step = 0; step < 20; ++step) {
        MemoryWorld world;
        int taken = 0;
        for (const char* name : {"a", "b", "c"}) {
            world.spawn(name, [&] {
                for (int i = 0; i < 10; ++i) {
                    world.step({"step", i});
                    ++taken;
                }
            });
        }
        world.stop(step);
        const WorldEnding ending = world.run();
        EXPECT_EQ(ending.kind, WorldEnding::Kind::stopped);
        EXPECT_EQ(ending.steps, step);
        EXPECT_LE(taken, step);
        for (const char* name : {"a", "b", "c"}) {
            EXPECT_FALSE(world.alive(name) && world.steps(name) < 10);
        }
    }
}

}  // namespace

}  // namespace forebay::adapters
