// Tests that every Communicator adapter must pass. An adapter's own test file includes this and
// instantiates the suite with its worlds. In a world of threads, one process runs all ranks; in a
// world of processes, every rank runs the same tests.
#pragma once

#include "foundation/ports/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace forebay::ports {

struct CommunicatorWorld {
    std::string name;
    // Runs the body on every rank; node memory has at least 1 MiB.
    std::function<void(const std::function<void(Communicator&)>&)> run;
};

inline std::string communicator_world_name(const testing::TestParamInfo<CommunicatorWorld>& info) {
    return info.param.name;
}

// The layout of the first page of node memory in these tests.
struct Board {
    Word arrived;
    Word generation;
    Word ping;
    Word pong;
    std::array<std::atomic<std::uint32_t>, 64> cells;
};

inline Board& board_of(Communicator& communicator) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory, zero is valid
    return *reinterpret_cast<Board*>(communicator.node_memory().data());
}

// A barrier of the ranks of the node.
inline void meet_node(Communicator& communicator) {
    Board& board = board_of(communicator);
    const std::uint32_t generation = board.generation.load(std::memory_order_acquire);
    const auto locals = static_cast<std::uint32_t>(communicator.place().locals);
    if (board.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == locals) {
        board.arrived.store(0, std::memory_order_relaxed);
        board.generation.store(generation + 1, std::memory_order_release);
        communicator.wake(board.generation);
        return;
    }
    communicator.wait(board.generation, generation);
}

// A barrier of all ranks.
inline void meet(Communicator& communicator) {
    meet_node(communicator);
    if (communicator.place().leader()) {
        const std::byte mine{1};
        std::vector<std::byte> all(static_cast<std::size_t>(communicator.place().nodes));
        communicator.all_gather({&mine, 1}, all);
    }
    meet_node(communicator);
}

// Returns the number of bytes that a receive has got.
inline std::size_t until_done(Communicator& communicator, Communicator::Ticket ticket) {
    Board& board = board_of(communicator);
    for (;;) {
        if (const auto bytes = communicator.done(ticket)) {
            return *bytes;
        }
        communicator.wait_briefly(board.ping, board.ping.load(std::memory_order_acquire));
    }
}

inline std::vector<std::byte> letter(std::size_t bytes, std::int64_t seed) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        made[i] = static_cast<std::byte>((static_cast<std::int64_t>(i) * 7 + seed) & 0xff);
    }
    return made;
}

class CommunicatorContract : public testing::TestWithParam<CommunicatorWorld> {
protected:
    static void run(const std::function<void(Communicator&)>& body) { GetParam().run(body); }
};

// Checks that each rank of the node is counted once, and that local ranks ascend with ranks.
inline void expect_members(const Communicator& communicator, NodeId node,
                           std::vector<std::int32_t>& seen) {
    Rank before{-1};
    for (std::int32_t i = 0; i < communicator.locals_on(node); ++i) {
        const Rank rank = communicator.rank_at(node, LocalRank{i});
        EXPECT_LT(before, rank);
        before = rank;
        ++seen.at(rank.position());
    }
}

TEST_P(CommunicatorContract, PlacesFitTogether) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        EXPECT_EQ(communicator.rank_at(place.node, place.local), place.rank);
        EXPECT_EQ(communicator.locals_on(place.node), place.locals);
        std::vector<std::int32_t> seen(static_cast<std::size_t>(place.ranks));
        Rank leader_before{-1};
        for (std::int32_t node = 0; node < place.nodes; ++node) {
            const Rank leader = communicator.rank_at(NodeId{node}, LocalRank{0});
            EXPECT_LT(leader_before, leader) << "nodes are numbered by their lowest rank";
            leader_before = leader;
            expect_members(communicator, NodeId{node}, seen);
        }
        EXPECT_EQ(seen, std::vector<std::int32_t>(seen.size(), 1));
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, NodeMemoryIsZeroAlignedAndLarge) {
    run([](Communicator& communicator) {
        const std::span<std::byte> memory = communicator.node_memory();
        EXPECT_GE(memory.size(), std::size_t{1} << 20);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 4096, 0U);
        EXPECT_TRUE(std::ranges::all_of(memory.first(1 << 16),
                                        [](std::byte one) { return one == std::byte{0}; }));
    });
}

TEST_P(CommunicatorContract, NodeMemoryIsTheNodesOwn) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        Board& board = board_of(communicator);
        const auto mine = static_cast<std::uint32_t>(place.rank.value() + 1);
        if (place.local.position() < board.cells.size()) {
            board.cells.at(place.local.position()).store(mine, std::memory_order_release);
        }
        meet(communicator);
        for (std::int32_t i = 0; i < std::min(place.locals, 64); ++i) {
            const Rank rank = communicator.rank_at(place.node, LocalRank{i});
            EXPECT_EQ(board.cells.at(static_cast<std::size_t>(i)).load(std::memory_order_acquire),
                      static_cast<std::uint32_t>(rank.value() + 1));
        }
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, WhatWasStoredBeforeAWakeIsSeenAfterTheWait) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        Board& board = board_of(communicator);
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory
        auto& plain = *reinterpret_cast<std::uint64_t*>(communicator.node_memory().data() + 8192);
        for (std::uint32_t i = 0; i < 300 && place.locals > 1; ++i) {
            if (place.leader()) {
                plain = std::uint64_t{i} * 3;
                board.ping.store(i + 1, std::memory_order_release);
                communicator.wake(board.ping);
                communicator.wait(board.pong, i);
            } else if (place.local.value() == 1) {
                communicator.wait(board.ping, i);
                EXPECT_EQ(plain, std::uint64_t{i} * 3);
                board.pong.store(i + 1, std::memory_order_release);
                communicator.wake(board.pong);
            }
        }
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, WaitReturnsAtOnceWhenTheWordIsAnotherAlready) {
    run([](Communicator& communicator) {
        Board& board = board_of(communicator);
        communicator.wait(board.ping, 12345);
        communicator.wait_briefly(board.ping, 12345);
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, WaitBrieflyReturnsThoughNothingHappens) {
    run([](Communicator& communicator) {
        Board& board = board_of(communicator);
        for (int i = 0; i < 3; ++i) {
            communicator.wait_briefly(board.ping, 0);
        }
        EXPECT_EQ(board.ping.load(), 0U);
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, AllWhoWaitAreWoken) {
    run([](Communicator& communicator) {
        for (int i = 0; i < 100; ++i) {
            meet_node(communicator);
        }
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, LeadersGatherInNodeOrder) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        for (const std::size_t bytes : {1, 8, 1000, 100'000}) {
            if (!place.leader()) {
                continue;
            }
            const auto mine = letter(bytes, place.node.value());
            std::vector<std::byte> all(bytes * static_cast<std::size_t>(place.nodes));
            communicator.all_gather(mine, all);
            for (std::int32_t node = 0; node < place.nodes; ++node) {
                const auto part =
                    std::span{all}.subspan(static_cast<std::size_t>(node) * bytes, bytes);
                EXPECT_TRUE(std::ranges::equal(part, letter(bytes, node)));
            }
        }
        meet(communicator);
    });
}

// Every leader sends to the next one and receives from the previous one concurrently.
inline void pass_round(Communicator& communicator, std::size_t bytes) {
    const RankPlace& place = communicator.place();
    if (!place.leader() || place.nodes == 1) {
        return;
    }
    const NodeId next{(place.node.value() + 1) % place.nodes};
    const NodeId before{(place.node.value() + place.nodes - 1) % place.nodes};
    const auto out = letter(bytes, place.node.value());
    std::vector<std::byte> in(bytes + 10);
    const auto sent = communicator.send(next, 5, out);
    const auto received = communicator.receive(before, 5, in);
    EXPECT_EQ(until_done(communicator, received), bytes);
    until_done(communicator, sent);
    in.resize(bytes);
    EXPECT_TRUE(in == letter(bytes, before.value())) << bytes << " bytes";
}

TEST_P(CommunicatorContract, MessagesOfAllSizesArrive) {
    run([](Communicator& communicator) {
        for (const std::size_t bytes : {0, 1, 1000, 1 << 16, 5 << 20}) {
            pass_round(communicator, bytes);
        }
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, MessagesAreMatchedByTagAndKeepTheirOrder) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        constexpr std::size_t bytes = 20'000;
        if (place.nodes > 1 && place.leader() && place.node.value() == 0) {
            const std::array<std::vector<std::byte>, 3> letters{letter(bytes, 1), letter(bytes, 2),
                                                                letter(bytes, 3)};
            const auto first = communicator.send(NodeId{1}, 10, letters[0]);
            const auto second = communicator.send(NodeId{1}, 10, letters[1]);
            const auto third = communicator.send(NodeId{1}, 11, letters[2]);
            for (const auto ticket : {third, first, second}) {
                until_done(communicator, ticket);
            }
        }
        if (place.nodes > 1 && place.leader() && place.node.value() == 1) {
            std::array<std::vector<std::byte>, 3> letters;
            letters.fill(std::vector<std::byte>(bytes));
            const auto third = communicator.receive(NodeId{0}, 11, letters[2]);
            until_done(communicator, third);
            const auto first = communicator.receive(NodeId{0}, 10, letters[0]);
            const auto second = communicator.receive(NodeId{0}, 10, letters[1]);
            until_done(communicator, second);
            until_done(communicator, first);
            for (std::size_t i = 0; i < letters.size(); ++i) {
                EXPECT_TRUE(letters.at(i) == letter(bytes, static_cast<std::int64_t>(i) + 1));
            }
        }
        meet(communicator);
    });
}

TEST_P(CommunicatorContract, ManyOperationsAreUnderWayAtOnce) {
    run([](Communicator& communicator) {
        const RankPlace& place = communicator.place();
        std::vector<Communicator::Ticket> tickets;
        std::vector<std::vector<std::byte>> out;
        std::vector<std::vector<std::byte>> in;
        const auto others = static_cast<std::size_t>(place.nodes);
        out.reserve(others * 10);
        in.reserve(others * 10);
        for (std::int32_t node = 0; place.leader() && node < place.nodes; ++node) {
            for (int tag = 0; tag < 10 && NodeId{node} != place.node; ++tag) {
                in.emplace_back(3000);
                tickets.push_back(communicator.receive(NodeId{node}, tag, in.back()));
                out.push_back(letter(3000, tag));
                tickets.push_back(communicator.send(NodeId{node}, tag, out.back()));
            }
        }
        while (!tickets.empty()) {
            std::erase_if(tickets,
                          [&](auto ticket) { return communicator.done(ticket).has_value(); });
        }
        for (std::size_t i = 0; i < in.size(); ++i) {
            EXPECT_TRUE(in[i] == letter(3000, static_cast<std::int64_t>(i % 10)));
        }
        meet(communicator);
    });
}

}  // namespace forebay::ports
