// A command line is parsed as an experiment with the pool, or refused with the reason.
#include "worlds/simulate/pool_options.hpp"

#include "worlds/simulate/options_check.hpp"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr CommandLine<PoolExperiment> line{"lustre-96-ost", &parse_pool_options};

TEST(WordsOfThePool, AreRefusedWithTheReason) {
    line.expect_refusals(
        Wrong{"burst_bytes=0", "from 1 to"}, Wrong{"interval=-1", "from 0 to"},
        Wrong{"steps=0", "from 1 to"}, Wrong{"writers=9000", "there are 8192 ranks"},
        Wrong{"files=0", "from 1 to"}, Wrong{"files=1000", "1000000 are the most"},
        Wrong{"new_files=2", "from 0 to 1"}, Wrong{"pool_window=1000", "from"},
        Wrong{"pool_cap=1", "from"}, Wrong{"pool_age=0", "from 1 to"},
        Wrong{"touch_rate=0", "from 1 to"}, Wrong{"burst_bytes=1024TiB", "64 TB"},
        Wrong{"burst_bytes=100", "at least a byte"}, Wrong{"input_bytes=1000", "multiple of"},
        Wrong{"ranks_per_node=1025", "1024 on each"}, Wrong{"nodes=5000", "1024 nodes"},
        Wrong{"region_bytes=1", "no such key"}, Wrong{"interval", "not key=value"},
        Wrong{"nodes=many", "it is no number"});
}

TEST(WordsOfThePool, AreTakenWithUnits) {
    const auto experiment =
        line.parsed({"interval=2 s", "pool_window=1 GiB", "pool_age=20", "copy_rate=5GB/s"});
    ASSERT_TRUE(experiment.has_value()) << experiment.error().message;
    EXPECT_EQ(experiment->interval, 2);
    EXPECT_EQ(experiment->pool.window_bytes, std::int64_t{1} << 30);
    EXPECT_EQ(experiment->pool.age_max_ns, 20'000'000'000);
    EXPECT_EQ(experiment->platform.node.copy_rate, 5e9);
}

TEST(WordsOfThePool, AreInTheHelp) {
    for (const char* key : {"  nodes  ", "  burst_bytes  ", "  pool_window  ", "  seed  "}) {
        EXPECT_NE(pool_help().find(key), std::string::npos) << key;
    }
}

}  // namespace
}  // namespace forebay::sim
