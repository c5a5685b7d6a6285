// A command line is parsed as an experiment with I/O ranks, or refused with the reason.
#include "worlds/simulate/io_ranks_options.hpp"

#include "worlds/simulate/options_check.hpp"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr CommandLine<IoRanksExperiment> line{"lustre-96-ost", &parse_io_ranks_options};

TEST(WordsOfIoRanks, AreRefusedWithTheReason) {
    line.expect_refusals(
        Wrong{"burst_bytes=0", "from 1 to"}, Wrong{"ranks=8191", "have 8192 cores"},
        Wrong{"io_ranks=9000", "have 8192 cores"}, Wrong{"io_ranks=0", "from 1 to"},
        Wrong{"io_ranks=5000", "fewer ranks for the program"}, Wrong{"spread=3", "spread evenly"},
        Wrong{"output_files=0", "from 1 to"}, Wrong{"output_files=200", "122 are the most"},
        Wrong{"burst_bytes=20000", "at least a byte"}, Wrong{"burst_bytes=1024TiB", "64 TB"},
        Wrong{"writers_per_node=33", "a node has 32 ranks"}, Wrong{"levels=0", "at least one"},
        Wrong{"nodes=5000", "1024 nodes"}, Wrong{"files=3", "no such key"});
    EXPECT_NE(line.complaint({"variant=romio"}).find("known: gather, io-ranks"), std::string::npos);
}

TEST(WordsOfIoRanks, AreTakenForTheirVariant) {
    const auto dedicated = line.parsed({"ranks=100", "io_ranks=4", "spread=2", "interval=2 s"});
    ASSERT_TRUE(dedicated.has_value()) << dedicated.error().message;
    EXPECT_EQ(ranks_of(*dedicated), 100);
    EXPECT_EQ(nodes_of(*dedicated), 4) << "104 ranks on nodes of 32";
    EXPECT_EQ(shape_of(*dedicated).ranks, 104);
    EXPECT_EQ(dedicated->interval, 2);

    const auto gather = line.parsed({"variant=gather", "io_ranks=4"});
    EXPECT_EQ(ranks_of(*gather), 8192) << "all cores, and no I/O ranks";
    const auto pooled = line.parsed({"variant=output", "ranks=100"});
    EXPECT_EQ(ranks_of(*pooled), 128) << "whole nodes";
    EXPECT_EQ(pool_experiment_of(*pooled).writers, 16);
    EXPECT_EQ(pool_experiment_of(*line.parsed({"variant=pool"})).writers, 0);
}

TEST(WordsOfIoRanks, AreInTheHelp) {
    for (const char* key : {"  nodes  ", "  io_ranks  ", "  spread  ", "  pool_window  "}) {
        EXPECT_NE(io_ranks_help().find(key), std::string::npos) << key;
    }
}

}  // namespace
}  // namespace forebay::sim
