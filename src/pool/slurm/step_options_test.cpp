// Tests which options users and administrators may give, and which variables go where.
#include "pool/slurm/step_options.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using forebay::slurm::pooled_paths;
using Texts = std::vector<std::string>;

TEST(StepOptions, PathsStandBehindPoolWithCommasBetweenThem) {
    EXPECT_EQ(*pooled_paths("pool:/scratch/me"), Texts{"/scratch/me"});
    EXPECT_EQ(*pooled_paths("pool:/a,b=c,."), (Texts{"/a", "b=c", "."}));
    EXPECT_EQ(*pooled_paths("pool:/a,,/b,"), (Texts{"/a", "/b"}));
    EXPECT_EQ(*pooled_paths("off"), Texts{});
}

TEST(StepOptions, AnythingElseIsRefusedWithAnExample) {
    for (const std::string value : {"", "pool", "pool:", "pool:,", "/scratch/me", "on"}) {
        const auto paths = pooled_paths(value);
        ASSERT_FALSE(paths) << value;
        EXPECT_NE(paths.error().message.find("--forebay=pool:/scratch/me"), std::string::npos);
    }
}

TEST(StepOptions, PlugstackMayNameTheCommandByAFullPath) {
    std::string good = "forebay=/opt/forebay/bin/forebay";
    std::array<char*, 1> words{good.data()};
    EXPECT_EQ(forebay::slurm::site_options(words)->command, "/opt/forebay/bin/forebay");
    EXPECT_EQ(forebay::slurm::site_options({})->command, "");
    for (std::string bad : {"forebay=bin/forebay", "forebay=", "socket=/x", "forebay"}) {
        words[0] = bad.data();
        EXPECT_FALSE(forebay::slurm::site_options(words)) << bad;
    }
}

TEST(StepOptions, TheCommandDoesNotTakeItselfForATask) {
    const Texts environment{"HOME=/h",
                            "SLURM_PROCID=0",
                            "SLURM_STEP_NUM_TASKS=4",
                            "PMI_RANK=0",
                            "PALS_RANKID=0",
                            "SLURM_JOB_ID=7",
                            "_SLURM_SPANK_OPTION_forebay_forebay=x",
                            "FOREBAY_POOL_CAP=1GiB"};
    EXPECT_EQ(forebay::slurm::command_environment(environment),
              (Texts{"HOME=/h", "SLURM_JOB_ID=7", "FOREBAY_POOL_CAP=1GiB"}));
}

TEST(StepOptions, OnlyWhatForebaySetsGoesToTheTasks) {
    EXPECT_TRUE(forebay::slurm::concerns_tasks("LD_PRELOAD=/x.so"));
    EXPECT_TRUE(forebay::slurm::concerns_tasks("FOREBAY_POOL_SOCKET=/tmp/x"));
    EXPECT_FALSE(forebay::slurm::concerns_tasks("LD_PRELOADED=1"));
    EXPECT_FALSE(forebay::slurm::concerns_tasks("PATH=/bin"));
}

TEST(StepOptions, AVariableIsFoundByItsWholeName) {
    const Texts environment{"HOMER=1", "HOME=/h=1"};
    EXPECT_EQ(forebay::slurm::value_in(environment, "HOME"), "/h=1");
    EXPECT_EQ(forebay::slurm::value_in(environment, "HOM"), std::nullopt);
}

}  // namespace
