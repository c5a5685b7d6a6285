// Tests what an environment says of the program that is started with it, and how it is edited.
#include "pool/capture/processes/child_environment.hpp"

#include "pool/capture/files/paths.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace forebay::capture {
namespace {

using Words = std::vector<std::string>;

// An environment as execve takes it.
class Environment {
public:
    explicit Environment(Words words) : words_{std::move(words)} {
        for (std::string& word : words_) {
            each_.push_back(word.data());
        }
        each_.push_back(nullptr);
    }
    [[nodiscard]] char* const* all() const { return each_.data(); }

private:
    Words words_;
    std::vector<char*> each_;
};

Words changed_words(const Words& words, EnvironmentChanges changes) {
    const Environment environment{words};
    std::vector<char> room(room_for(environment.all()), 'x');
    room.push_back('!');
    Words made;
    for (char* const* one = changed(environment.all(), changes, room.data()); *one != nullptr;
         ++one) {
        made.emplace_back(*one);
    }
    EXPECT_EQ(room.back(), '!') << "it took more room than it had said";
    return made;
}

TEST(ChildEnvironment, OurLibraryIsFoundInLdPreload) {
    EXPECT_EQ(library_in("/a/b.so:/x/libforebay_posix.so /c.so"), "/x/libforebay_posix.so");
    EXPECT_EQ(library_in("libforebay_posix.so"), "libforebay_posix.so");
    for (const char* const none : {"", ":", "/x/libforebay_mpi.so", "/x/notlibforebay_posix.so",
                                   "/x/libforebay_posix.so.old"}) {
        EXPECT_TRUE(library_in(none).empty()) << none;
    }
}

TEST(ChildEnvironment, WithoutOurLibraryOthersStay) {
    const EnvironmentChanges without{.without_library = true};
    EXPECT_EQ(changed_words({"A=1", "LD_PRELOAD=/u.so:/x/libforebay_posix.so", "B=2"}, without),
              (Words{"A=1", "LD_PRELOAD=/u.so", "B=2"}));
    EXPECT_EQ(
        changed_words({"LD_PRELOAD=/x/libforebay_mpi.so:/x/libforebay_posix.so:/u.so"}, without),
        (Words{"LD_PRELOAD=/x/libforebay_mpi.so:/u.so"}));
    EXPECT_EQ(changed_words({"A=1", "LD_PRELOAD=libforebay_posix.so", "B=2"}, without),
              (Words{"A=1", "B=2"}));
    EXPECT_EQ(changed_words({"LD_PRELOADED=libforebay_posix.so"}, without),
              (Words{"LD_PRELOADED=libforebay_posix.so"}));
}

TEST(ChildEnvironment, AddressSanitizerIsToldOnce) {
    const EnvironmentChanges any_order{.any_order = true};
    EXPECT_EQ(changed_words({"A=1"}, any_order),
              (Words{"A=1", "ASAN_OPTIONS=verify_asan_link_order=0"}));
    EXPECT_EQ(changed_words({"ASAN_OPTIONS=detect_leaks=0", "A=1"}, any_order),
              (Words{"ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0", "A=1"}));
    EXPECT_EQ(changed_words({"ASAN_OPTIONS=verify_asan_link_order=1"}, any_order),
              (Words{"ASAN_OPTIONS=verify_asan_link_order=1"}))
        << "the user has said it";
    EXPECT_EQ(changed_words({}, any_order), (Words{"ASAN_OPTIONS=verify_asan_link_order=0"}));
}

TEST(ChildEnvironment, OnlyWithLibrarySocketAndPathsIsAProgramCaptured) {
    PoolPaths paths;
    ASSERT_EQ(paths.set("/scratch,/other"), 0U);
    // A file that exists, in place of library and socket.
    const std::string here = "/proc/self/exe";
    const PoolOfProcess pool{.socket = here.c_str(), .paths = paths};
    const std::string library = "LD_PRELOAD=libforebay_posix.so";
    const std::string socket = "FOREBAY_POOL_SOCKET=" + here;
    const std::string folders = "FOREBAY_POOL_PATHS=/scratch,/other";
    const auto captured = [&](Words words) {
        return why_uncaptured(Environment{std::move(words)}.all(), pool) == nullptr;
    };
    EXPECT_TRUE(captured({"A=1", library, socket, folders}));
    EXPECT_TRUE(captured({library, socket, "FOREBAY_POOL_PATHS=/"})) << "it has all of them, too";
    EXPECT_FALSE(captured({}));
    EXPECT_FALSE(captured({socket, folders}));
    EXPECT_FALSE(captured({library, folders}));
    EXPECT_FALSE(captured({library, socket}));
    EXPECT_FALSE(captured({library, socket, folders, "FOREBAY_ENABLED=Off"}));
    EXPECT_FALSE(captured({library, socket, "FOREBAY_POOL_PATHS=/scratch"}));
    EXPECT_FALSE(captured({library, "FOREBAY_POOL_SOCKET=/another", folders}));
    EXPECT_FALSE(captured({"LD_PRELOAD=/not/there/libforebay_posix.so", socket, folders}));
}

}  // namespace
}  // namespace forebay::capture
