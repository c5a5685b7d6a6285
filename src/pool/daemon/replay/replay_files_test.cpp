// Which files a replay writes to: files below the paths of the job, and only if no symbolic link
// has appeared on their paths.
#include "pool/daemon/replay/replay_files.hpp"

#include "pool/daemon/tests/server_check.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

using check::Folder;

bool may_be_written(const std::vector<std::string>& below, const std::string& path) {
    const StoredReplayFiles files{{}, 0, below};
    pool::journal::ReplayPlan replay_plan;
    replay_plan.path = path;
    return files.may_be_written(replay_plan);
}

TEST(StoredReplayFiles, AreAllWhereNoPathsAreNamed) {
    EXPECT_TRUE(may_be_written({}, "/etc/passwd"));
}

TEST(StoredReplayFiles, AreThoseBelowThePathsElse) {
    const std::vector<std::string> below{"/scratch/me", "/data/one", "/slash/"};
    EXPECT_TRUE(may_be_written(below, "/scratch/me/a/b"));
    EXPECT_TRUE(may_be_written(below, "/data/one")) << "a file";
    EXPECT_TRUE(may_be_written(below, "/slash/file"));
    EXPECT_TRUE(may_be_written({"/"}, "/any/file"));
    EXPECT_FALSE(may_be_written(below, "/scratch/mean"));
    EXPECT_FALSE(may_be_written(below, "/etc/passwd"));
    EXPECT_FALSE(may_be_written(below, "/scratch/me/../../etc/passwd"));
    EXPECT_FALSE(may_be_written(below, "/scratch/me/a/.."));
    EXPECT_FALSE(may_be_written(below, "scratch/me/a"));
    EXPECT_FALSE(may_be_written(below, ""));
}

TEST(StoredReplayFiles, AreNotFoundBehindALinkThatCameLater) {
    const Folder folder;
    std::filesystem::create_directory(folder.path("real"));
    std::ofstream{folder.path("real/file")} << "bytes";
    std::filesystem::create_directory_symlink("real", folder.path("link"));
    std::filesystem::create_symlink("real/file", folder.path("name"));
    StoredReplayFiles files{{}, 0, {}};
    pool::journal::ReplayPlan replay_plan;
    for (const auto& [path, is_found] : {std::pair{"/real/file", true},
                                         {"/link/file", false},
                                         {"/name", false},
                                         {"/nothing", false}}) {
        replay_plan.path = folder.name() + path;
        const auto found = files.find(replay_plan);
        ASSERT_TRUE(found.has_value()) << path;
        EXPECT_EQ(*found != nullptr, is_found) << path;
    }
}

}  // namespace
}  // namespace forebay::daemon
