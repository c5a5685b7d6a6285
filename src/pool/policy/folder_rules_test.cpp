// Tests the parsing and the choice of rules for directories, by tables.
#include "pool/policy/folder_rules.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

TEST(FolderRules, SayWhatHoldsForFilesBelow) {
    struct Row {
        const char* text;
        FolderRule rule;
    };
    const std::array rows{
        Row{"/a past", {"/a", {.past = true}}},
        Row{"/a window=1GiB", {"/a", {.window_bytes = 1024 * mib}}},
        Row{"  /a/   fsync=node  window=4m ",
            {"/a", {.window_bytes = 4 * mib, .sync_to_journal = true}}},
        Row{"/with a blank fsync=global", {"/with a blank", {.sync_to_journal = false}}},
        Row{"out window=1m", {"/here/out", {.window_bytes = mib}}},
        Row{"/ past", {"/", {.past = true}}},
    };
    for (const Row& row : rows) {
        const auto found = folder_rules({row.text}, "/here");
        ASSERT_TRUE(found) << row.text << found.error().message;
        EXPECT_EQ(found->front(), row.rule) << row.text;
    }
    EXPECT_TRUE(folder_rules({}, "/here")->empty());
}

TEST(FolderRules, AreRefusedWhereTheyMakeNoSense) {
    const std::array texts{"/a",
                           "past",
                           "",
                           "/a window=",
                           "/a window=1k",
                           "/a fsync=late",
                           "/a fast",
                           "/a past window=1m",
                           "/a past fsync=node",
                           "/a window=1m window=2m",
                           "/a fsync=node fsync=node",
                           "/my past window=1m"};
    for (const char* text : texts) {
        const auto found = folder_rules({text}, "/here");
        ASSERT_FALSE(found) << text;
        EXPECT_EQ(found.error().code, ErrorCode::argument);
        EXPECT_TRUE(found.error().message.find("pool_folders") != std::string::npos)
            << found.error().message;
    }
    EXPECT_FALSE(folder_rules({"/a past", "/a/ window=1m"}, "/here")) << "twice";
}

TEST(FolderRules, TheLongestPathWins) {
    const auto rules = folder_rules({"/a window=1m", "/a/b past", "/a/bc window=2m"}, "/");
    ASSERT_TRUE(rules);
    EXPECT_EQ(rule_of(*rules, "/a/file").window_bytes, mib);
    EXPECT_TRUE(rule_of(*rules, "/a/b/file").past);
    EXPECT_FALSE(rule_of(*rules, "/a/b/file").window_bytes) << "nothing of a shorter path";
    EXPECT_EQ(rule_of(*rules, "/a/bc").window_bytes, 2 * mib) << "the file itself";
    EXPECT_EQ(rule_of(*rules, "/a/bcd").window_bytes, mib) << "not half a name";
    EXPECT_EQ(rule_of(*rules, "/b/file"), FileRule{});
    EXPECT_EQ(rule_of({}, "/b/file"), FileRule{});
}

}  // namespace
}  // namespace forebay::pool
