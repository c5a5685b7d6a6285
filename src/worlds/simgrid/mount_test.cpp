// Times of calls through a node's client that can be computed by hand.
#include "worlds/simgrid/mounted_storage.hpp"

#include "worlds/simgrid/alone_check.hpp"
#include "worlds/simgrid/world.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::adapters {
namespace {

constexpr std::int64_t mib = 1 << 20;

// Seconds for 1 MiB at a rate in bytes per second.
double mib_at(double rate) { return static_cast<double>(mib) / rate; }

// A platform on which 1 MiB is copied in 1 ms, passes a link in 1 ms, and takes a target a bit over
// 10 ms.
MachinePlatform simple() {
    MachinePlatform platform;
    platform.node = {1, 1, 1e9, 1e-6, 1e10, 1e9, 0, 1e9, 0, 1e15, 1e15};
    platform.client = {mib, 8, 32 * mib, 0, 0};
    platform.server = {1, 1e9, 0};
    platform.target = {2, 1e8, 0, 0, 16, 0, 16, 0, 0, 0};
    platform.metadata = {1, 0.003, 0.002, 0, 0.001};
    platform.stripe_bytes = mib;
    return platform;
}

// Makes one call and returns its errno.
int call(ports::FileStorage& storage, IoDirection direction, const FileRun& run) {
    submit(storage, direction, {Offset{run.offset}, Length{run.bytes}});
    std::array<ports::RequestCompletion, 1> done;
    EXPECT_EQ(storage.wait(done), 1U);
    EXPECT_EQ(done.front().bytes.bytes(), done.front().system == 0 ? run.bytes : 0);
    return done.front().system;
}

// A file striped over both targets.
MountedFile file(std::int64_t bytes) { return {{0, 0, 2}, bytes, false}; }

constexpr std::int64_t calls = 16;

// Returns the times when the last of 16 calls of 1 MiB returned, and when all bytes were at the
// targets.
Times written(const MachinePlatform& platform, const MountedFile& where) {
    const auto told = run_alone(platform, hosts_of_ranks(1, 1), [&](RankPorts& ports) {
        const auto storage = ports.life.mounted(where);
        const double begin = seconds(ports);
        for (std::int64_t at = 0; at < calls; ++at) {
            EXPECT_EQ(call(*storage, IoDirection::write, {at * mib, mib}), 0);
        }
        const double called = seconds(ports);
        EXPECT_TRUE(storage->sync());
        return Times{called - begin, seconds(ports) - begin};
    });
    return told.front();
}

TEST(SimulatedMount, AWriteIsDoneWhenItHasBeenCopied) {
    const Times took = written(simple(), file(calls * mib));
    EXPECT_NEAR(took[0], calls * mib_at(1e9), 1e-4);
    // Two targets serve eight RPCs each in sequence; the second one begins a copy later.
    EXPECT_NEAR(took[1], 8 * mib_at(1e8) + (2 + 2) * mib_at(1e9), 1e-4);
}

TEST(SimulatedMount, AWriteWaitsWhereTooMuchIsNotThereYet) {
    MachinePlatform platform = simple();
    platform.client.dirty_bytes = 2 * mib;
    const Times took = written(platform, file(calls * mib));
    // The last two copies for each target wait for the end of its sixth and seventh RPC.
    EXPECT_NEAR(took[1], 8 * mib_at(1e8) + 4 * mib_at(1e9), 1e-4);
    EXPECT_GT(took[0], 6 * mib_at(1e8));
    EXPECT_LT(took[0], 7 * mib_at(1e8));
}

TEST(SimulatedMount, ACallCostsTheClientWork) {
    MachinePlatform platform = simple();
    platform.client.call_time = 0.005;
    const Times took = written(platform, file(calls * mib));
    EXPECT_NEAR(took[0], calls * (0.005 + mib_at(1e9)), 1e-4);
}

TEST(SimulatedMount, ADirectWriteWaitsForTheTarget) {
    MountedFile where = file(calls * mib);
    where.direct = true;
    const Times took = written(simple(), where);
    EXPECT_NEAR(took[0], calls * (mib_at(1e8) + 2 * mib_at(1e9)), 2e-4);
    EXPECT_NEAR(took[1], took[0], 1e-4);
}

TEST(SimulatedMount, SmallCallsThatWaitForNothingTakeTheirTime) {
    const auto told = run_alone(simple(), hosts_of_ranks(1, 1), [](RankPorts& ports) {
        const auto storage = ports.life.mounted(file(calls * mib));
        for (std::int64_t at = 0; at < 16 * calls; ++at) {
            EXPECT_EQ(call(*storage, IoDirection::write, {at * (mib / 16), mib / 16}), 0);
        }
        const double called = seconds(ports);
        EXPECT_TRUE(storage->sync());
        return Times{called, seconds(ports)};
    });
    EXPECT_NEAR(told.front()[0], calls * mib_at(1e9), 1e-4);
    EXPECT_NEAR(told.front()[1], 8 * mib_at(1e8) + (2 + 2) * mib_at(1e9), 1e-4);
}

TEST(SimulatedMount, TheFirstBytesOfAnObjectWaitForItsLock) {
    MachinePlatform platform = simple();
    platform.target.grant_time = 0.1;
    const Times took = written(platform, file(calls * mib));
    EXPECT_NEAR(took[0], calls * mib_at(1e9) + 2 * 0.1, 1e-4);
}

TEST(SimulatedMount, WhoLosesItsLockAsksAgain) {
    MachinePlatform platform = simple();
    platform.target.rate = 1e12;
    platform.target.grant_time = 0.1;
    platform.target.lock_time = 0.4;
    const MountedFile where{{0, 0, 1}, 2 * calls * mib, false};
    const auto told = run_alone(platform, hosts_of_ranks(2, 1), [&](RankPorts& ports) {
        const auto storage = ports.life.mounted(where);
        const std::int64_t first = ports.communicator.place().rank.value() * calls;
        for (std::int64_t at = 0; at < calls; ++at) {
            EXPECT_EQ(call(*storage, IoDirection::write, {(first + at) * mib, mib}), 0);
        }
        return Times{seconds(ports)};
    });
    EXPECT_NEAR(told[0][0], 2 * 0.1 + calls * mib_at(1e9), 1e-4);
    EXPECT_NEAR(told[1][0], 0.1 + 0.4 + calls * mib_at(1e9), 1e-4);
}

// Returns the time when 16 calls of 1 MiB have been read.
double read_through(const MachinePlatform& platform, bool direct) {
    MountedFile where = file(calls * mib);
    where.direct = direct;
    const auto told = run_alone(platform, hosts_of_ranks(1, 1), [&](RankPorts& ports) {
        const auto storage = ports.life.mounted(where);
        const double begin = seconds(ports);
        for (std::int64_t at = 0; at < calls; ++at) {
            EXPECT_EQ(call(*storage, IoDirection::read, {at * mib, mib}), 0);
        }
        return Times{seconds(ports) - begin};
    });
    return told.front()[0];
}

TEST(SimulatedMount, ADirectReadIsAskedForWhenItIsCalled) {
    MachinePlatform platform = simple();
    platform.node.link_latency = 0.05;
    const double one = 2 * 0.05 + mib_at(1e8) + 2 * mib_at(1e9);
    EXPECT_NEAR(read_through(platform, true), calls * one, 2e-3);
}

TEST(SimulatedMount, WhoReadsOnFindsTheNextBytesOnTheirWay) {
    MachinePlatform platform = simple();
    const double one = mib_at(1e8) + 3 * mib_at(1e9);
    EXPECT_NEAR(read_through(platform, false), calls * one, 2e-3) << "nothing is read ahead";
    platform.client.read_ahead = 4 * mib;
    // From then on both targets are always busy.
    EXPECT_NEAR(read_through(platform, false), 8 * mib_at(1e8), 3 * one);
}

// Returns the time when the last of eight ranks on two nodes has read a file that all read.
double all_have_read(bool direct) {
    MachinePlatform platform = simple();
    platform.server.memory = 64 * mib;
    const auto told = run_alone(platform, hosts_of_ranks(2, 4), [&](RankPorts& ports) {
        MountedFile where = file(calls * mib);
        where.direct = direct;
        const auto storage = ports.life.mounted(where);
        for (std::int64_t at = 0; at < calls; ++at) {
            EXPECT_EQ(call(*storage, IoDirection::read, {at * mib, mib}), 0);
        }
        return Times{seconds(ports)};
    });
    return std::ranges::max(told).front();
}

// The targets are read once, after which the server's cache has the bytes. The server's link
// carries them once per node (or once per rank, if direct), which delays the later ones from begin
// to end.
TEST(SimulatedMount, WhatRanksOfANodeReadIsFetchedOnce) {
    const double fetched = mib_at(1e8) + 2 * mib_at(1e9);
    const double behind = mib_at(1e9);
    EXPECT_NEAR(all_have_read(false), calls * (fetched + mib_at(1e9)) + (2 - 1) * behind, 1e-3);
    EXPECT_NEAR(all_have_read(true), calls * fetched + (8 - 1) * behind, 1e-3);
}

TEST(SimulatedMount, AFailureIsToldByTheSync) {
    WorldOptions options = hosts_of_ranks(1, 1);
    options.sickness = {0, 1, 0};
    const auto told = run_alone(simple(), options, [&](RankPorts& ports) {
        const auto storage = ports.life.mounted(file(2 * mib));
        const int failed = call(*storage, IoDirection::write, {0, 2 * mib});
        const auto synced = storage->sync();
        return Times{static_cast<double>(failed),
                     synced ? 0 : static_cast<double>(synced.error().system)};
    });
    EXPECT_EQ(told.front(), (Times{0, EIO}));
}

TEST(SimulatedMount, AFailureIsToldByTheCallThatReads) {
    WorldOptions options = hosts_of_ranks(1, 1);
    options.sickness = {1, 1, 0};
    for (const bool direct : {false, true}) {
        const auto told = run_alone(simple(), options, [&](RankPorts& ports) {
            MountedFile where = file(2 * mib);
            where.direct = direct;
            const auto storage = ports.life.mounted(where);
            const int first = call(*storage, IoDirection::read, {0, mib});
            const int second = call(*storage, IoDirection::read, {mib, mib});
            return Times{static_cast<double>(first), static_cast<double>(second)};
        });
        EXPECT_EQ(told.front(), (Times{0, EIO})) << direct;
    }
}

// An earlier version told only the first one who read such a block that it is not there.
TEST(SimulatedMount, AFailureIsToldToEveryOneWhoReadsThere) {
    WorldOptions options = hosts_of_ranks(1, 2);
    options.sickness = {1, 1, 0};
    const auto told = run_alone(simple(), options, [&](RankPorts& ports) {
        const auto storage = ports.life.mounted(file(2 * mib));
        const int first = call(*storage, IoDirection::read, {mib, mib});
        const int second = call(*storage, IoDirection::read, {mib, mib});
        return Times{static_cast<double>(first), static_cast<double>(second)};
    });
    EXPECT_EQ(told, (std::vector<Times>(2, Times{EIO, EIO})));
}

TEST(SimulatedMount, MakingAFileTakesLongerForEachObject) {
    const auto told = run_alone(simple(), hosts_of_ranks(1, 1), [&](RankPorts& ports) {
        ports.life.create(2);
        const double made = seconds(ports);
        ports.life.ask(MetadataCall::open);
        return Times{made, seconds(ports) - made};
    });
    EXPECT_NEAR(told.front()[0], 0.003 + 2 * 0.001, 1e-5);
    EXPECT_NEAR(told.front()[1], 0.003, 1e-5);
}

}  // namespace
}  // namespace forebay::adapters
