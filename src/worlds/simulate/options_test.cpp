// A command line is parsed as an experiment, or refused with the reason.
#include "worlds/simulate/options.hpp"

#include "worlds/simulate/options_check.hpp"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

constexpr CommandLine<CollectiveExperiment> line{"tsubame-2.5-thin", &parse_options};

TEST(KeyValueOptions, AreRefusedWithTheReason) {
    line.expect_refusals(
        Wrong{"stripe_bytes=0", "from 4096 to"}, Wrong{"buffers=0", "from 1 to"},
        Wrong{"targets=0", "from 1 to"}, Wrong{"servers=0", "from 1 to"},
        Wrong{"nodes=0", "from 1 to 65536"}, Wrong{"nodes=1e12", "from 1 to 65536"},
        Wrong{"nodes=inf", "from 1 to 65536"}, Wrong{"nodes=nan", "from 1 to 65536"},
        Wrong{"nodes=1.5", "whole"}, Wrong{"calls=1e10", "from 1 to"},
        Wrong{"request_bytes_max=0", "from 65536 to"}, Wrong{"region_bytes=0", "from 1 to"},
        Wrong{"region_count=-1", "from 0 to"}, Wrong{"staging_bytes_max=1", "from"},
        Wrong{"link_rate=0", "from 1 to"}, Wrong{"copy_rate=0", "from 1 to"},
        Wrong{"jitter=2", "from 0 to 1"}, Wrong{"jitter=nan", "from 0 to 1"},
        Wrong{"verify=2", "from 0 to 1"}, Wrong{"seed=1e30", "from 0 to"},
        Wrong{"nodes=many", "it is no number"}, Wrong{"sick_target=64", "there are 64"},
        Wrong{"sick_slower=0", "from 1 to"}, Wrong{"sick_slower=5", "sick_target is missing"},
        Wrong{"sick_error_from=0", "sick_target is missing"}, Wrong{"speed=3", "no such key"},
        Wrong{"nodes=", "it is no number"});
}

TEST(KeyValueOptions, AreQuotedWhereTheyAreRefused) {
    for (const char* word : {"nodes=1e12", "nodes=many", "speed=3", "sick_slower=5", "nodes="}) {
        const std::string said = line.complaint({word});
        EXPECT_TRUE(said.starts_with(std::string{"cannot use \""} + word + '"')) << said;
    }
}

TEST(KeyValueOptions, ThatFitAloneButNotTogetherAreRefused) {
    EXPECT_NE(line.complaint({"nodes=65536"}).find("there may be 65536 ranks"), std::string::npos);
    EXPECT_NE(line.complaint({"nodes=1024", "ranks_alone=1"}).find("8192 that are alone"),
              std::string::npos);
    EXPECT_EQ(line.complaint({"nodes=5000"}), "none");
    EXPECT_NE(line.complaint({"sick_target=9", "targets=4"}).find("there are 4"),
              std::string::npos);
    EXPECT_NE(line.complaint({"targets=4", "sick_target=9"}).find("there are 4"),
              std::string::npos);
    EXPECT_EQ(line.complaint({"sick_target=9", "targets=10"}), "none");
    EXPECT_EQ(line.complaint({"sick_slower=5", "sick_error_from=0", "sick_target=9"}), "none");
    EXPECT_NE(line.complaint({"read=1", "verify=1"}).find("cannot use \"verify=1 read=1\""),
              std::string::npos);
    EXPECT_NE(line.complaint({"variant=placement", "ranks_alone=0"}).find("every rank is alone"),
              std::string::npos);
    EXPECT_NE(line.complaint({"region_bytes=1e12", "region_count=1e6"}).find("the file would have"),
              std::string::npos);
    EXPECT_NE(line.complaint({"region_count=1000000", "verify=1"}).find("with verify=1"),
              std::string::npos);
    EXPECT_NE(line.complaint({"ranks_per_node=1000", "per_node=1000"})
                  .find("it must be a whole number from"),
              std::string::npos);
}

TEST(KeyValueOptions, NameAVariantWithAWholeLimit) {
    EXPECT_EQ(line.complaint({"variant=earth(wr,ex:4096)"}), "none");
    for (const char* word : {"variant=earth(wr:2x)", "variant=earth(wr:)", "variant=earth(wr:2"}) {
        EXPECT_NE(line.complaint({word}).find("there is no variant"), std::string::npos) << word;
    }
    for (const char* word : {"variant=earth(wr:0)", "variant=earth(wr,ex:4097)",
                             "variant=earth(wr:-1)", "variant=earth(wr:99999999999)"}) {
        EXPECT_NE(line.complaint({word}).find("k must be a whole number from 1 to 4096"),
                  std::string::npos)
            << word;
    }
}

TEST(KeyValueOptions, AreInTheHelp) {
    for (const char* key : {"  nodes  ", "  jitter  ", "  sick_error_from  ", "  verify  "}) {
        EXPECT_NE(help().find(key), std::string::npos) << key;
    }
}

TEST(KeyValueOptions, AreTakenInAnyOrderWithUnits) {
    const auto experiment =
        line.parsed({"link_rate=2 GB/s", "stripe_bytes=1 MiB", "message_time=3us", "rpc_bytes=4MiB",
                     "server_memory=0", "grant_time=1ms"});
    ASSERT_TRUE(experiment.has_value()) << experiment.error().message;
    EXPECT_EQ(experiment->platform.node.link_rate, 2e9);
    EXPECT_EQ(experiment->platform.stripe_bytes, 1 << 20);
    EXPECT_EQ(experiment->platform.node.message_time, 3e-6);
    EXPECT_EQ(experiment->platform.client.rpc_bytes, 4 << 20);
    EXPECT_EQ(experiment->platform.server.memory, 0);
    EXPECT_EQ(experiment->platform.target.grant_time, 1e-3);
}

}  // namespace
}  // namespace forebay::sim
