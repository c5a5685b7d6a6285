// Ranks come to calls sooner or later, with more or less patience: all or none of them make a call
// together, in any order of arrival, and no rank waits forever.
#include "collective/engine/rendezvous.hpp"

#include "collective/engine/file.hpp"
#include "worlds/memory/world_cluster.hpp"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace forebay::engine {
namespace {

constexpr int ranks = 3;
constexpr int calls = 20;
constexpr std::int64_t patience = 300'000;
using Answers = std::array<std::array<bool, calls>, ranks>;

// `delay`: nanoseconds that pass before a rank comes to a call.
template <class Delay>
Answers answers(std::uint64_t seed, const Delay& delay) {
    Answers all{};
    std::array<int, calls> in_exchange{};
    adapters::MemoryWorld world{{.seed = seed}};
    const adapters::NodesOptions nodes{
        .node_sizes = {ranks}, .node_bytes = CollectiveFile::node_segment_bytes(ranks, 1 << 20)};
    const adapters::WorldEnding ending =
        adapters::run_ranks(world, nodes, [&](ports::Communicator& communicator) {
            const std::size_t rank = communicator.place().rank.position();
            RankRendezvous one{communicator, world, 7};
            for (std::size_t call = 0; call < calls; ++call) {
                world.sleep(1 + delay(rank, call));
                all[rank][call] = one.all_come(patience);
                // The exchange that follows needs all of them.
                in_exchange[call] += all[rank][call] ? 1 : 0;
                for (int i = 0; all[rank][call] && in_exchange[call] < ranks && i < 1000; ++i) {
                    world.sleep(10'000);
                }
            }
        });
    EXPECT_EQ(ending.kind, adapters::WorldEnding::Kind::ended) << ending.report;
    return all;
}

TEST(RankRendezvous, RanksThatComeTogetherGoTogether) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Answers all = answers(seed, [](std::size_t, std::size_t) { return 1000; });
        for (const auto& rank : all) {
            for (const bool together : rank) {
                EXPECT_TRUE(together) << "seed " << seed;
            }
        }
    }
}

TEST(RankRendezvous, WhoWaitedInVainTriesLessOften) {
    const Answers all = answers(1, [](std::size_t rank, std::size_t call) {
        return rank == 0 && call == 0 ? 100 * patience : 1000;
    });
    EXPECT_FALSE(all[0][0]);
    EXPECT_FALSE(all[1][1]) << "the one after is not tried";
    int together = 0;
    for (const bool one : all[0]) {
        together += one ? 1 : 0;
    }
    EXPECT_LT(together, calls - 2);
}

TEST(RankRendezvous, AllRanksHaveTheSameAnswerWhateverTheOrder) {
    int together = 0;
    int alone = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random{seed};
        std::array<std::array<std::int64_t, calls>, ranks> delays{};
        for (auto& rank : delays) {
            for (std::int64_t& delay : rank) {
                delay =
                    static_cast<std::int64_t>(random() % (random() % 4 == 0 ? 700'000 : 20'000));
            }
        }
        const Answers all =
            answers(seed, [&](std::size_t rank, std::size_t call) { return delays[rank][call]; });
        for (std::size_t call = 0; call < calls; ++call) {
            EXPECT_EQ(all[0][call], all[1][call]) << "seed " << seed << ", call " << call;
            EXPECT_EQ(all[0][call], all[2][call]) << "seed " << seed << ", call " << call;
            ++(all[0][call] ? together : alone);
        }
    }
    EXPECT_GT(together, 100);
    EXPECT_GT(alone, 100);
}

TEST(RankRendezvous, WhoTakesNoPartKeepsNobodyLong) {
    adapters::MemoryWorld world{{.seed = 3}};
    const adapters::NodesOptions nodes{
        .node_sizes = {2}, .node_bytes = CollectiveFile::node_segment_bytes(2, 1 << 20)};
    std::int64_t waited = 0;
    const adapters::WorldEnding ending =
        adapters::run_ranks(world, nodes, [&](ports::Communicator& communicator) {
            RankRendezvous one{communicator, world, 1};
            const std::int64_t begin = world.now_ns();
            const bool first = communicator.place().rank.value() == 0;
            EXPECT_FALSE(one.all_come(first ? patience : 0));
            waited = first ? world.now_ns() - begin : waited;
        });
    EXPECT_EQ(ending.kind, adapters::WorldEnding::Kind::ended) << ending.report;
    EXPECT_LT(waited, 2 * patience);
}

// Regression: a rank without patience for a call noted no failure while another one waited in vain,
// so that the two tried in alternate calls, and in the end never in the same. Ranks have patience
// for some of `before` calls, by chance; from then on for every call, and soon they meet.
TEST(RankRendezvous, RanksMeetAgainHoweverTheirPatienceDifferedBefore) {
    constexpr std::size_t backoff_calls_max = 32;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random{seed};
        const std::size_t before = random() % 300;
        const std::uint64_t one_of = 1 + random() % 8;  // how rare patience is
        const std::size_t all = before + backoff_calls_max;
        std::array<std::vector<bool>, ranks> patient;
        for (auto& rank : patient) {
            for (std::size_t call = 0; call < all; ++call) {
                rank.push_back(call >= before || random() % one_of == 0);
            }
        }
        std::array<std::size_t, ranks> met{};  // calls after `before` that were made together
        adapters::MemoryWorld world{{.seed = seed}};
        const adapters::NodesOptions nodes{
            .node_sizes = {ranks},
            .node_bytes = CollectiveFile::node_segment_bytes(ranks, 1 << 20)};
        const adapters::WorldEnding ending =
            adapters::run_ranks(world, nodes, [&](ports::Communicator& communicator) {
                const std::size_t rank = communicator.place().rank.position();
                RankRendezvous one{communicator, world, 7};
                for (std::size_t call = 0; call < all; ++call) {
                    // Every call has its time, so that no rank is late.
                    world.sleep(static_cast<std::int64_t>(call + 1) * 2 * patience -
                                world.now_ns());
                    const bool together = one.all_come(patient[rank][call] ? patience : 0);
                    met[rank] += together && call >= before ? 1 : 0;
                }
            });
        EXPECT_EQ(ending.kind, adapters::WorldEnding::Kind::ended) << ending.report;
        EXPECT_GT(met[0], 0) << "seed " << seed << ": " << before << " calls before";
        EXPECT_EQ(met[0], met[1]) << "seed " << seed;
        EXPECT_EQ(met[0], met[2]) << "seed " << seed;
    }
}

}  // namespace
}  // namespace forebay::engine
