#include "pool/capture/processes/search_path.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace forebay::capture {
namespace {

std::vector<std::string> candidates(const char* folders, const char* file = "tool") {
    std::vector<std::string> all;
    for_each_candidate(folders, file, [&](const char* path) {
        all.emplace_back(path);
        return false;
    });
    return all;
}

using Paths = std::vector<std::string>;

TEST(SearchPath, NamesTheFileInEachFolder) {
    EXPECT_EQ(candidates("/bin:/usr/bin"), (Paths{"/bin/tool", "/usr/bin/tool"}));
    EXPECT_EQ(candidates("relative"), (Paths{"relative/tool"}));
}

// The last one was left out: a program in the current directory was started unexamined.
TEST(SearchPath, TakesEmptyEntriesForTheCurrentDirectory) {
    EXPECT_EQ(candidates(""), (Paths{"tool"}));
    EXPECT_EQ(candidates("/bin:"), (Paths{"/bin/tool", "tool"}));
    EXPECT_EQ(candidates(":/bin"), (Paths{"tool", "/bin/tool"}));
    EXPECT_EQ(candidates("/a::/b"), (Paths{"/a/tool", "tool", "/b/tool"}));
    EXPECT_EQ(candidates(":"), (Paths{"tool", "tool"}));
}

TEST(SearchPath, StopsWhereItIsTold) {
    Paths all;
    for_each_candidate("/a:/b:/c", "tool", [&](const char* path) {
        all.emplace_back(path);
        return all.size() == 2;
    });
    EXPECT_EQ(all, (Paths{"/a/tool", "/b/tool"}));
}

TEST(SearchPath, LeavesOutPathsThatAreTooLong) {
    const std::string fits(search_path_max - 6, 'a');
    const std::string longer(search_path_max - 5, 'b');
    EXPECT_EQ(candidates((longer + ":" + fits + ":/c").c_str()),
              (Paths{fits + "/tool", "/c/tool"}));
    EXPECT_EQ(candidates(longer.c_str()), Paths{});
}

}  // namespace
}  // namespace forebay::capture
