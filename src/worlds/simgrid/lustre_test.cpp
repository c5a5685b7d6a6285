// The file system's model by itself: queues, interference, locks and metadata.
#include "worlds/simgrid/lustre.hpp"

#include <gtest/gtest.h>

namespace forebay::adapters {
namespace {

MachinePlatform simple() {
    MachinePlatform platform;
    platform.server = {1, 1e9};
    platform.target = {2, 1e8, 0.001, 0.5, 1, 0.25, 2, 0.01, 0.0};
    platform.metadata = {1, 0.001, 0.0005, 0.1};
    platform.stripe_bytes = 1 << 20;
    return platform;
}

MachinePlatform with_locks() {
    MachinePlatform platform = simple();
    platform.target.grant_time = 0.003;
    return platform;
}

TEST(SimulatedLustre, AloneARequestTakesItsCostAndItsBytes) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.arrive(2, {0, 0, 0, 100'000'000, 1}), 3.001);
}

TEST(SimulatedLustre, RequestsOfOneClientWaitInLineAndInterfereFromTheThirdOn) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 0, 100'000'000, 1}), 1.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 1 << 20, 100'000'000, 1}), 2.002);
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 2 << 20, 100'000'000, 1}), 3.253);
}

TEST(SimulatedLustre, StreamsOfSeveralClientsInterfere) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 0, 100'000'000, 1}), 1.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 1, 1 << 20, 100'000'000, 1}), 2.502);
}

TEST(SimulatedLustre, TargetsDoNotKnowEachOther) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 0, 100'000'000, 1}), 1.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {1, 1, 1 << 20, 100'000'000, 1}), 1.001);
}

TEST(SimulatedLustre, AStripeThatChangesHandsCostsALock) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 0, 0, 1}), 0.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(1, {0, 0, 10, 0, 1}), 1.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(2, {0, 1, 20, 0, 1}), 2.011);
}

TEST(SimulatedLustre, TheSameSeedGivesTheSameTimes) {
    MachinePlatform platform = simple();
    platform.target.jitter = 0.2;
    const auto times = [&](std::uint64_t seed) {
        SimulatedLustre lustre{platform, seed, {}};
        std::vector<double> ends;
        for (int i = 0; i < 10; ++i) {
            ends.push_back(lustre.arrive(i * 10.0, {0, 0, 0, 100'000'000, 1}) - i * 10.0);
        }
        return ends;
    };
    EXPECT_EQ(times(1), times(1));
    EXPECT_NE(times(1), times(2));
    for (const double one : times(3)) {
        EXPECT_NEAR(one, 1.001, 0.2002);
    }
}

TEST(SimulatedLustre, ASickTargetIsSlowerOrFails) {
    SimulatedLustre slow{simple(), 1, {0, 100, -1}};
    EXPECT_NEAR(slow.arrive(0, {0, 0, 0, 1'000'000, 1}), 1.1, 1e-9);
    EXPECT_NEAR(slow.arrive(0, {1, 0, 0, 1'000'000, 1}), 0.011, 1e-9);
    const SimulatedLustre broken{simple(), 1, {1, 1, 5}};
    EXPECT_FALSE(broken.fails(4.9, 1));
    EXPECT_TRUE(broken.fails(5, 1));
    EXPECT_FALSE(broken.fails(5, 0));
}

TEST(SimulatedLustre, OpeningTakesLongerPerOpenWhenMoreWait) {
    SimulatedLustre lustre{simple(), 1, {}};
    double ten = 0;
    for (int i = 0; i < 10; ++i) {
        ten = lustre.open(0);
    }
    double hundred = 0;
    for (int i = 0; i < 100; ++i) {
        hundred = lustre.open(100) - 100;
    }
    EXPECT_GT(hundred / 100, 2 * ten / 10);
}

// A request for an object whose lock the node's client holds.
RequestArrival of_object(std::int64_t at, std::int64_t bytes) {
    RequestArrival request{0, 0, at, bytes};
    request.object = 0;
    return request;
}

TEST(SimulatedLustre, WhatWasReadIsInTheServersMemory) {
    MachinePlatform platform = simple();
    platform.server.memory = 1 << 30;
    SimulatedLustre lustre{platform, 1, {}};
    constexpr std::int64_t block = ServerReadCache::block_bytes;
    const double first = lustre.fetch(0, of_object(0, 2 * block));
    EXPECT_NEAR(first, 0.001 + 2 * block / 1e8, 1e-9);
    EXPECT_EQ(lustre.fetch(0.001, of_object(0, 2 * block)), first) << "it is being read";
    EXPECT_EQ(lustre.fetch(5, of_object(100, 1000)), 5);
    EXPECT_NEAR(lustre.fetch(5, of_object(3 * block, 2 * block)), 5.001 + 2 * block / 1e8, 1e-9);
    EXPECT_NEAR(lustre.fetch(6, of_object(block, 2 * block)), 6.001 + block / 1e8, 1e-9)
        << "half of it is there";
    EXPECT_EQ(lustre.target_bytes().front(), 5 * block);
}

TEST(SimulatedLustre, ARequestThatContinuesTheOneBeforeItCostsItsBytes) {
    SimulatedLustre lustre{simple(), 1, {}};
    EXPECT_NEAR(lustre.arrive(0, of_object(0, 1000)), 0.001 + 1000 / 1e8, 1e-9);
    EXPECT_NEAR(lustre.arrive(1, of_object(1000, 1000)), 1 + 1000 / 1e8, 1e-9);
    EXPECT_NEAR(lustre.arrive(2, of_object(3000, 1000)), 2.001 + 1000 / 1e8, 1e-9);
    RequestArrival other = of_object(4000, 1000);
    other.object = 1;
    EXPECT_NEAR(lustre.arrive(3, other), 3.001 + 1000 / 1e8, 1e-9);
}

TEST(SimulatedLustre, WithoutMemoryEveryReadIsTheTargets) {
    SimulatedLustre lustre{simple(), 1, {}};
    for (const double now : {0.0, 1.0}) {
        EXPECT_NEAR(lustre.fetch(now, of_object(0, 1000)), now + 0.001 + 1000 / 1e8, 1e-9);
    }
}

TEST(SimulatedLustre, ALockIsWaitedForOnceAndLongerWhereAnotherOneHasIt) {
    SimulatedLustre lustre{with_locks(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.lock(0, {0, 0, 0, 10}), 0.003);
    EXPECT_DOUBLE_EQ(lustre.lock(0, {0, 0, 10, 20}), 0);
    EXPECT_DOUBLE_EQ(lustre.lock(1, {1, 1, 10, 20}), 0.003);
    EXPECT_DOUBLE_EQ(lustre.lock(0, {1, 1, 100, 110}), 0.013);
    EXPECT_EQ(lustre.locks_asked(), 3);
    EXPECT_EQ(lustre.locks_lost(), 1);
}

TEST(SimulatedLustre, ReadersShareALock) {
    SimulatedLustre lustre{with_locks(), 1, {}};
    EXPECT_DOUBLE_EQ(lustre.share(0, 0), 0.003);
    EXPECT_DOUBLE_EQ(lustre.share(0, 0), 0);
    EXPECT_DOUBLE_EQ(lustre.share(0, 1), 0.003);
    EXPECT_DOUBLE_EQ(lustre.share(1, 0), 0.003);
    EXPECT_EQ(lustre.locks_lost(), 0);
}

TEST(SimulatedLustre, MakingAFileTakesLongerForEachObject) {
    MachinePlatform platform = simple();
    platform.metadata.object_time = 0.01;
    SimulatedLustre lustre{platform, 1, {}};
    EXPECT_DOUBLE_EQ(lustre.create(0, 4), 0.041);
}

TEST(SimulatedLustre, TargetsMayBeSlowerThanTheyAre) {
    SimulatedLustre lustre{simple(), 1, {}, {1, 2}};
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {0, 0, 0, 100'000'000, 1}), 1.001);
    EXPECT_DOUBLE_EQ(lustre.arrive(0, {1, 0, 0, 100'000'000, 1}), 2.002);
}

}  // namespace
}  // namespace forebay::adapters
