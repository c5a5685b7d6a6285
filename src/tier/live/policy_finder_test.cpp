// Tests which policy holds for a file, on real folders, and whether some replicas expire.
#include "tier/live/policy_finder.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

namespace forebay::tier {
namespace {

class PolicyFinderTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = FOREBAY_TEST_DIR "/policy_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = std::filesystem::canonical(name);
        std::filesystem::create_directories(root_ + "/short/deep");
        std::filesystem::create_directories(root_ + "/plain");
        const std::string words = "write live=1h";
        ASSERT_EQ(
            ::setxattr((root_ + "/short").c_str(), policy_attribute, words.data(), words.size(), 0),
            0);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    [[nodiscard]] PolicyFinder open() const {
        auto finder = PolicyFinder::open(root_, *parse_policy("preload"));
        EXPECT_TRUE(finder);
        return std::move(*finder);
    }

    std::string root_;
};

TEST_F(PolicyFinderTest, TheNearestFolderWithAPolicyDecides) {
    PolicyFinder finder = open();
    EXPECT_NE(finder.policy_of(root_ + "/short/deep/x").live_ns, 0);
    EXPECT_EQ(finder.policy_of(root_ + "/plain/x").live_ns, 0);
    EXPECT_TRUE(finder.policy_of(root_ + "/plain/x").preload);
}

// Once a folder with a time to live had been seen, all replicas were looked at every ten seconds,
// for as long as the tier was there.
TEST_F(PolicyFinderTest, NothingExpiresWhereNoPolicySaysSoAnyMore) {
    PolicyFinder finder = open();
    EXPECT_FALSE(finder.take_any_expires());
    static_cast<void>(finder.policy_of(root_ + "/short/x"));
    EXPECT_TRUE(finder.take_any_expires());
    static_cast<void>(finder.policy_of(root_ + "/plain/x"));
    EXPECT_FALSE(finder.take_any_expires());
    static_cast<void>(finder.policy_of(root_ + "/short/x"));
    EXPECT_TRUE(finder.take_any_expires()) << "also by a policy that is remembered";
    finder.forget();
    EXPECT_TRUE(finder.take_any_expires()) << "by one that nobody has seen yet";
}

}  // namespace
}  // namespace forebay::tier
