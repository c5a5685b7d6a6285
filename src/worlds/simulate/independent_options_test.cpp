// A command line is parsed as an independent experiment, or refused with the reason.
#include "worlds/simulate/independent_options.hpp"

#include "worlds/simulate/options_check.hpp"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr CommandLine<IndependentExperiment> line{"lustre-96-ost", &parse_independent_options};

TEST(WordsOfIndependent, AreRefusedWithTheReason) {
    line.expect_refusals(
        Wrong{"processes=70000", "from 0 to 65536"},
        Wrong{"processes=9000", "they need 282 nodes, and there are 256"},
        Wrong{"per_node=33", "a node has 32 ranks"}, Wrong{"shared=2", "from 0 to 1"},
        Wrong{"stripe_count=-1", "from 0 to"}, Wrong{"transfer_bytes=1", "from 4096"},
        Wrong{"process_bytes=2TiB", "from 4096"}, Wrong{"process_bytes=1TiB", "are the most"},
        Wrong{"drift=2", "from 0 to 1"}, Wrong{"stragglers=nan", "from 0 to 1"},
        Wrong{"moment=0.5", "whole"}, Wrong{"sick_target=96", "there are 96"},
        Wrong{"sick_slower=5", "sick_target is missing"},
        Wrong{"sick_error_from=1", "sick_target is missing"},
        Wrong{"same=1", "it needs read=1 shared=1"},
        Wrong{"stripe_bytes=1500000", "a multiple of the other"},
        Wrong{"burst_bytes=1", "no such key"}, Wrong{"read", "not key=value"});
}

TEST(WordsOfIndependent, AreTakenWithUnits) {
    const auto experiment =
        line.parsed({"transfer_bytes=64KiB", "process_bytes=1 GiB", "processes=64", "per_node=8",
                     "read=1", "same=1", "target_rate=1GB/s"});
    ASSERT_TRUE(experiment.has_value()) << experiment.error().message;
    EXPECT_EQ(experiment->transfer_bytes, 64 << 10);
    EXPECT_EQ(experiment->process_bytes, 1 << 30);
    EXPECT_EQ(experiment->platform.target.rate, 1e9);
    EXPECT_TRUE(experiment->same);
    EXPECT_EQ(nodes_of(*experiment), 8);
}

TEST(WordsOfIndependent, MayBeLeftOut) {
    const auto experiment = line.parsed({});
    ASSERT_TRUE(experiment.has_value()) << experiment.error().message;
    EXPECT_EQ(processes_of(*experiment), 8192);
    EXPECT_EQ(stripes_of(*experiment), 1);
    EXPECT_EQ(stripes_of(*line.parsed({"stripe_count=0"})), 96);
    EXPECT_EQ(per_node_of(*line.parsed({"processes=3"})), 3);
}

TEST(WordsOfIndependent, AreInTheHelp) {
    for (const char* key : {"  nodes  ", "  process_bytes  ", "  drift  ", "  seed  "}) {
        EXPECT_NE(independent_help().find(key), std::string::npos) << key;
    }
}

}  // namespace
}  // namespace forebay::sim
