// Times of messages and requests in small worlds.
#include "worlds/simgrid/world.hpp"

#include "worlds/simgrid/alone_check.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::adapters {
namespace {

constexpr std::int64_t megabyte = 1'000'000;

MachinePlatform simple() {
    MachinePlatform platform;
    platform.node = {1, 1, 1e9, 1e-6, 1e10, 1e9, 0, 1e9, 0, 1e15, 1e15};
    platform.server = {1, 1e9};
    platform.target = {2, 1e8, 0.001, 0, 16, 0, 16, 0, 0};
    platform.metadata = {1, 0.003, 0.002, 0};
    platform.stripe_bytes = megabyte;
    return platform;
}

// Submits a request of a megabyte to `target`.
void submit_one(ports::FileStorage& storage, IoDirection direction, std::int64_t target) {
    submit(storage, direction, {Offset{target * megabyte}, Length{megabyte}});
}

// Seconds that such a request takes.
double request_one(RankPorts& ports, IoDirection direction, std::int64_t target) {
    const auto storage = *ports.open(direction);
    const double begin = seconds(ports);
    submit_one(*storage, direction, target);
    std::array<ports::RequestCompletion, 1> done;
    storage->wait(done);
    return seconds(ports) - begin;
}

// Rank 0 reads from the sick target before rank 1 reads from the healthy one.
void expect_healthy_reads(const MachinePlatform& platform, WorldOptions options) {
    options.sickness = {0, 100, -1};
    const auto told = run_alone(platform, options, [](RankPorts& ports) {
        const std::int32_t rank = ports.communicator.place().rank.value();
        return Times{request_one(ports, IoDirection::read, rank)};
    });
    EXPECT_NEAR(told[0][0], 1.1 + 0.002, 1e-5);
    EXPECT_NEAR(told[1][0], 0.011 + 0.002, 1e-5);
}

TEST(Reads, OfAHealthyTargetDoNotWaitForASickOneOnItsServer) {
    expect_healthy_reads(simple(), hosts_of_ranks(2, 1));
}

TEST(Reads, OfAHealthyTargetDoNotWaitForASickOneOfTheSameClient) {
    MachinePlatform platform = simple();
    platform.server.count = 2;
    expect_healthy_reads(platform, hosts_of_ranks(1, 2));
}

TEST(Writes, PassTheClientItsInterfaceTheServersLinkAndTheTarget) {
    const auto told = run_alone(simple(), hosts_of_ranks(1, 1), [](RankPorts& ports) {
        return Times{request_one(ports, IoDirection::write, 0)};
    });
    EXPECT_NEAR(told[0][0], 0.003 + 0.011, 1e-5);
}

// Returns the times of submit() and of the completion.
Times write_with(bool blocking) {
    WorldOptions options = hosts_of_ranks(1, 1);
    options.blocking = blocking;
    const auto told = run_alone(simple(), options, [](RankPorts& ports) {
        const auto storage = *ports.open(IoDirection::write);
        const double begin = seconds(ports);
        submit_one(*storage, IoDirection::write, 0);
        const double submitted = seconds(ports);
        std::array<ports::RequestCompletion, 1> done;
        storage->wait(done);
        return Times{submitted - begin, seconds(ports) - begin};
    });
    return told.front();
}

TEST(Writes, BlockARankOnlyWhereTheyAreToldTo) {
    EXPECT_NEAR(write_with(false)[0], 0, 1e-5);
    EXPECT_NEAR(write_with(false)[1], 0.003 + 0.011, 1e-5);
    EXPECT_NEAR(write_with(true)[0], 0.003 + 0.011, 1e-5);
    EXPECT_NEAR(write_with(true)[1], 0.003 + 0.011, 1e-5);
}

TEST(MetadataCall, OpeningAndClosingWaitForTheServer) {
    const auto told = run_alone(simple(), hosts_of_ranks(1, 2), [](RankPorts& ports) {
        const auto storage = *ports.open(IoDirection::write);
        const double opened = seconds(ports);
        EXPECT_TRUE(storage->close());
        return Times{opened, seconds(ports)};
    });
    EXPECT_NEAR(told[0][0], 0.003, 1e-5);
    EXPECT_NEAR(told[1][0], 0.006, 1e-5);
    EXPECT_NEAR(told[0][1], 0.008, 1e-5);
    EXPECT_NEAR(told[1][1], 0.010, 1e-5);
}

// No content is sent: only the length of a message counts.
void send(RankPorts& ports, std::int32_t to, std::int64_t bytes) {
    ports.imagined->absent(bytes);
    ports.communicator.done(ports.communicator.send(NodeId{to}, 1, {}));
}

double receive(RankPorts& ports, std::int32_t from) {
    const auto ticket = ports.communicator.receive(NodeId{from}, 1, {});
    const ports::Word nothing{0};
    while (!ports.communicator.done(ticket)) {
        ports.communicator.wait_briefly(nothing, 0);
    }
    return seconds(ports);
}

TEST(Messages, DoNotWaitForOnesThatTheirSendersHaveNotBegun) {
    WorldOptions options = hosts_of_ranks(3, 1);
    options.ranks_alone = true;  // without shared memory, messages start as soon as they are sent
    const auto told = run_alone(simple(), options, [](RankPorts& ports) {
        switch (ports.communicator.place().node.value()) {
            case 0:
                send(ports, 1, 100 * megabyte);
                send(ports, 2, megabyte);
                return Times{};
            case 1:
                ports.imagined->copied({megabyte, 1});
                send(ports, 2, megabyte);
                return Times{receive(ports, 0)};
            default: return Times{receive(ports, 1), receive(ports, 0)};
        }
    });
    EXPECT_NEAR(told[1][0], 0.1, 1e-5);
    EXPECT_NEAR(told[2][0], 0.002, 1e-5);
    EXPECT_NEAR(told[2][1], 0.101, 1e-5);
}

// Times of the sender and of the receiver of ten megabytes.
Times message_with(bool ranks_alone) {
    WorldOptions options = hosts_of_ranks(2, 1);
    options.ranks_alone = ranks_alone;
    MachinePlatform platform = simple();
    platform.node.rank_send_rate = 1e8;
    platform.node.rank_receive_rate = 5e7;
    const auto told = run_alone(platform, options, [](RankPorts& ports) {
        if (ports.communicator.place().node.value() == 1) {
            return Times{receive(ports, 0)};
        }
        send(ports, 1, 10 * megabyte);
        return Times{seconds(ports)};
    });
    return {told[0][0], told[1][0]};
}

TEST(Messages, CostBothEndsByTheByteWhereRanksAreAlone) {
    EXPECT_NEAR(message_with(false)[0], 0, 1e-5);
    EXPECT_NEAR(message_with(false)[1], 0.01, 1e-5);
    EXPECT_NEAR(message_with(true)[0], 0.1, 1e-5);
    EXPECT_NEAR(message_with(true)[1], 0.1 + 0.01 + 0.2, 1e-5);
}

// Rank 0 waits; rank 1 of the same node wakes it after 0.1 s if `woken`, else nobody does.
double waited(double most, bool woken) {
    ports::Word word{0};
    const auto told = run_alone(simple(), hosts_of_ranks(1, 2), [&](RankPorts& ports) {
        if (ports.communicator.place().rank.value() == 0) {
            ports.life.wait_for(word, 0, most);
            return Times{seconds(ports)};
        }
        ports.life.compute(0.1);
        if (woken) {
            word.store(1);
            ports.communicator.wake(word);
        }
        return Times{};
    });
    return told[0][0];
}

TEST(Waiting, EndsWhenTheWordChangesOrTheTimeIsOver) {
    EXPECT_NEAR(waited(1, true), 0.1, 1e-6);
    EXPECT_NEAR(waited(1, false), 1, 1e-6);
    EXPECT_NEAR(waited(0.05, true), 0.05, 1e-6);
}

TEST(Waiting, ForAnythingEndsWithARequest) {
    const auto told = run_alone(simple(), hosts_of_ranks(1, 1), [](RankPorts& ports) {
        const auto storage = ports.life.file({0, 0, 1});
        submit_one(*storage, IoDirection::write, 0);
        const ports::Word nothing{0};
        ports.life.wait_for_anything(nothing, 0, 1);
        const double first = seconds(ports);
        ports.life.wait_for_anything(nothing, 0, 1);
        return Times{first, seconds(ports) - first};
    });
    EXPECT_NEAR(told[0][0], 0.003 + 0.011, 1e-5);
    EXPECT_NEAR(told[0][1], 1, 1e-6) << "nothing else happens";
}

TEST(Waiting, ForAnythingEndsWithAMessage) {
    MachinePlatform platform = simple();
    platform.node.message_time = 0.01;
    const auto told = run_alone(platform, hosts_of_ranks(2, 1), [](RankPorts& ports) {
        if (ports.communicator.place().rank.value() == 0) {
            ports.life.tell(Rank{1}, [] {});
            return Times{seconds(ports)};
        }
        const ports::Word nothing{0};
        ports.life.wait_for_anything(nothing, 0, 1);
        return Times{seconds(ports)};
    });
    EXPECT_NEAR(told[0][0], 0.01, 1e-6);
    EXPECT_NEAR(told[1][0], 0.02, 1e-5);
}

// Rank 2 fetches from another node, rank 3 from its own.
TEST(Fetches, TakeAsLongAsAMessageOfThatSize) {
    const auto told = run_alone(simple(), hosts_of_ranks(2, 2), [](RankPorts& ports) {
        const std::int32_t rank = ports.communicator.place().rank.value();
        const ports::Word nothing{0};
        int arrived = 0;
        if (rank >= 2) {
            ports.life.fetch(Rank{rank == 2 ? 0 : 2}, megabyte, [&arrived] { ++arrived; });
            while (arrived == 0) {
                ports.life.wait_for_anything(nothing, 0, 1);
            }
        }
        return Times{seconds(ports)};
    });
    EXPECT_NEAR(told[2][0], 0.001 + 1e-6, 1e-6) << "through the interfaces";
    EXPECT_NEAR(told[3][0], 2 * 1e-4, 1e-6) << "through the node's memory";
}

// The time when both ranks have written a megabyte, each to its own file.
double write_two(const FilePlace& one, const FilePlace& other) {
    const auto told = run_alone(simple(), hosts_of_ranks(2, 1), [&](RankPorts& ports) {
        const bool first = ports.communicator.place().rank.value() == 0;
        const auto storage = ports.life.file(first ? one : other);
        submit_one(*storage, IoDirection::write, 0);
        std::array<ports::RequestCompletion, 1> done;
        storage->wait(done);
        return Times{seconds(ports)};
    });
    return std::max(told[0][0], told[1][0]);
}

TEST(Files, LieOnTargetsOfTheirOwn) {
    EXPECT_NEAR(write_two({0, 0, 1}, {1, 1, 1}), 0.004 + 0.011, 0.001);
    EXPECT_NEAR(write_two({0, 0, 1}, {1, 0, 1}), 0.004 + 0.022, 0.001);
    EXPECT_NEAR(write_two({0, 1, 2}, {1, 1, 1}), 0.004 + 0.022, 0.001);
}

TEST(World, TellsOfADeadlock) {
    EXPECT_DEATH(static_cast<void>(run_world(simple(), hosts_of_ranks(2, 1),
                                             [](RankPorts& ports) {
                                                 ports::Word never{0};
                                                 ports.communicator.wait(never, 0);
                                             })),
                 "Deadlock");
}

}  // namespace
}  // namespace forebay::adapters
