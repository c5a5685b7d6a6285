// Programs' files by a tier on real folders, and two tiers over one folder, as two nodes have them.
#include "tier/live/live_tier.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace forebay::tier {
namespace {

constexpr const char* kept = "write preload move=manual";
constexpr std::int64_t short_wait_ns = 300'000'000;
constexpr std::int64_t long_wait_ns = 60'000'000'000;

std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

class LiveTierTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = FOREBAY_TEST_DIR "/live_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
        std::filesystem::create_directories(root_ + "/global");
        std::filesystem::create_directories(root_ + "/fast");
        std::filesystem::create_directories(root_ + "/disk");
        path_ = root_ + "/global/x";
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    [[nodiscard]] std::unique_ptr<LiveTier> start(const std::string& place, const char* policy,
                                                  std::int64_t wait_ns = long_wait_ns,
                                                  std::int64_t find_wait_ns = long_wait_ns) const {
        auto parsed = parse_policy(policy);
        EXPECT_TRUE(parsed);
        auto tier = LiveTier::start({.fast = root_ + "/" + place,
                                     .global = root_ + "/global",
                                     .policy = std::move(*parsed),
                                     .peer_wait_ns = wait_ns,
                                     .find_wait_ns = find_wait_ns});
        EXPECT_TRUE(tier) << tier.error().message;
        return tier ? std::move(*tier) : nullptr;
    }

    // An open file of a program. `error` is that of its open.
    class Program {
    public:
        Program(LiveTier& tier, const std::string& path, int flags)
            : tier_{tier},
              fd_{::open(path.c_str(), (flags & ~O_TRUNC) | O_CLOEXEC, 0644)},
              writes_{(flags & O_ACCMODE) != O_RDONLY} {
            error = tier_.open({.fd = fd_.get(),
                                .path = path,
                                .writes = writes_,
                                .empties = (flags & O_TRUNC) != 0},
                               file_);
        }
        Program(const Program&) = delete;
        Program& operator=(const Program&) = delete;
        ~Program() {
            if (file_) {
                tier_.close(file_, writes_);
            }
        }
        void write(std::string_view text, std::int64_t offset = 0) {
            const FastResult done =
                tier_.write(*file_, {.offset = offset, .bytes = std::as_bytes(std::span{text})});
            if (done.to_file) {
                ASSERT_EQ(::pwrite(fd_.get(), text.data(), text.size(), offset),
                          static_cast<ssize_t>(text.size()));
            } else {
                ASSERT_EQ(done.bytes, static_cast<std::int64_t>(text.size()));
            }
        }
        [[nodiscard]] std::string read() const {
            std::array<char, 256> bytes{};
            const int fd = file_->descriptor() >= 0 ? file_->descriptor() : fd_.get();
            const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
            return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
        }
        [[nodiscard]] bool in_fast_storage() const { return file_->descriptor() >= 0; }

        int error = 0;

    private:
        LiveTier& tier_;
        OwnFd fd_;
        bool writes_;
        std::shared_ptr<LiveFile> file_;
    };

    void write(LiveTier& tier, std::string_view text) const {
        Program program{tier, path_, O_WRONLY | O_CREAT | O_TRUNC};
        ASSERT_EQ(program.error, 0);
        program.write(text);
    }
    [[nodiscard]] std::string read(LiveTier& tier) const {
        const Program program{tier, path_, O_RDONLY};
        return program.error == 0 ? program.read() : "error " + std::to_string(program.error);
    }
    [[nodiscard]] std::string rescued(const std::string& place) const {
        std::string all;
        for (const auto& one :
             std::filesystem::directory_iterator{root_ + "/" + place + "/rescue"}) {
            all += one.path().extension() == ".txt" ? "" : text_in(one.path());
        }
        return all;
    }

    std::string root_;
    std::string path_;
};

TEST_F(LiveTierTest, BytesLieInFastStorageUntilTheyAreMoved) {
    const auto tier = start("fast/one", kept);
    write(*tier, "new");
    EXPECT_EQ(text_in(path_), "");
    EXPECT_EQ(read(*tier), "new");
    struct stat status{};
    const OwnFd fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    ASSERT_EQ(::fstat(fd.get(), &status), 0);
    tier->add_status(fd.get(), status);
    EXPECT_EQ(status.st_size, 3);
    EXPECT_EQ(tier->move_now(path_), 0);
    EXPECT_EQ(text_in(path_), "new");
    EXPECT_EQ(tier->evict_now(path_), 0);
    EXPECT_EQ(read(*tier), "new");
}

// An order to move a file while its replica goes without the mover, which is held up.
class OrderTest : public LiveTierTest {
protected:
    template <typename Meanwhile>
    int order(LiveTier& tier, const Meanwhile& meanwhile) const {
        std::promise<pid_t> thread;
        auto held = tier.hold_names();
        auto ended = std::async(std::launch::async, [&] {
            thread.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
            return tier.move_now(path_);
        });
        wait_until_asleep(thread.get_future().get());
        meanwhile();
        if (ended.wait_for(std::chrono::minutes{1}) != std::future_status::ready) {
            std::fprintf(stderr, "the order waits for ever\n");
            std::abort();  // the thread could not be joined
        }
        return ended.get();
    }

    int order_and_remove(LiveTier& tier) const {
        const OwnFd fd{::open(path_.c_str(), O_PATH | O_CLOEXEC)};
        return order(tier, [&] {
            std::filesystem::remove(path_);
            tier.unlinked(fd.get());
        });
    }

private:
    static void wait_until_asleep(pid_t thread) {
        const std::string file = "/proc/self/task/" + std::to_string(thread) + "/stat";
        while (text_in(file).find(") S ") == std::string::npos) {
            std::this_thread::yield();
        }
    }
};

TEST_F(OrderTest, EndsWhenTheFileIsRemoved) {
    const auto tier = start("fast/one", kept);
    write(*tier, "new");
    EXPECT_EQ(order_and_remove(*tier), 0);
}

TEST_F(OrderTest, EndsWhenAFileIsRemovedThatAProgramHasOpen) {
    const auto tier = start("fast/one", kept);
    Program program{*tier, path_, O_WRONLY | O_CREAT | O_TRUNC};
    program.write("new");
    EXPECT_EQ(order_and_remove(*tier), 0);
}

TEST_F(OrderTest, FailsWhenAnOpenFindsThatSomebodyElseHasChangedTheFile) {
    const auto tier = start("fast/one", kept);
    write(*tier, "new");
    EXPECT_EQ(order(*tier,
                    [&] {
                        std::ofstream{path_} << "theirs";
                        EXPECT_EQ(read(*tier), "theirs");
                    }),
              EIO);
    EXPECT_EQ(rescued("fast/one"), "new");
}

TEST_F(LiveTierTest, AnOrderSaysNothingOfARescueBeforeIt) {
    const auto tier = start("fast/one", kept);
    write(*tier, "new");
    std::ofstream{path_} << "theirs";
    write(*tier, "again");
    EXPECT_EQ(rescued("fast/one"), "new");
    EXPECT_EQ(tier->move_now(path_), 0);
    EXPECT_EQ(text_in(path_), "again");
}

// The mover tried without a pause, and the end never came.
TEST_F(LiveTierTest, ARescueThatFailsIsTriedAgainAndTheEndComes) {
    std::string obstacle;  // where the note of the rescue would be
    {
        const auto tier = start("fast/one", "write move=job");
        write(*tier, "new");
        const std::filesystem::directory_iterator replica{root_ + "/fast/one/replicas"};
        obstacle = root_ + "/fast/one/rescue/" + replica->path().filename().string() + ".1.txt";
        std::filesystem::create_directory(obstacle);
        std::ofstream{path_} << "theirs";
        EXPECT_EQ(tier->finish(), 1);
        EXPECT_EQ(text_in(path_), "theirs");
        EXPECT_EQ(rescued("fast/one"), "");
    }
    std::filesystem::remove(obstacle);
    const auto tier = start("fast/one", kept);
    EXPECT_EQ(read(*tier), "theirs");
    EXPECT_EQ(rescued("fast/one"), "new");
}

TEST_F(LiveTierTest, TheEndMovesWhatWaitsForTheJob) {
    const auto tier = start("fast/one", "write move=job");
    write(*tier, "new");
    EXPECT_EQ(tier->finish(), 0);
    EXPECT_EQ(text_in(path_), "new");
}

TEST_F(LiveTierTest, WhatWasLeftIsFoundByTheNextTier) {
    {
        const auto tier = start("fast/one", kept);
        write(*tier, "new");
        tier->leave();
    }
    const auto tier = start("fast/one", kept);
    EXPECT_EQ(read(*tier), "new");
    EXPECT_EQ(tier->move_now(path_), 0);
    EXPECT_EQ(text_in(path_), "new");
}

// Many files with newer bytes in a folder of their own, as a tier has left them.
class FoundLater : public LiveTierTest {
protected:
    static constexpr int files = 30;

    void leave_files() {
        std::filesystem::create_directories(root_ + "/global/old");
        const auto tier = start("fast/one", kept);
        for (int i = 0; i < files; ++i) {
            write_file(*tier, root_ + "/global/old/" + std::to_string(i), std::to_string(i));
        }
        tier->leave();
    }
    void write_file(LiveTier& tier, const std::string& path, const std::string& text) {
        path_ = path;
        write(tier, text);
    }
    // Nobody waits for what was left.
    [[nodiscard]] std::unique_ptr<LiveTier> start_at_once() const {
        return start("fast/one", kept, long_wait_ns, 0);
    }
};

TEST_F(FoundLater, AFileIsRightWheneverItIsAskedFor) {
    leave_files();
    const auto tier = start_at_once();
    for (int i = files - 1; i >= 0; --i) {
        path_ = root_ + "/global/old/" + std::to_string(i);
        const OwnFd fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
        struct stat status{};
        ASSERT_EQ(::fstat(fd.get(), &status), 0);
        tier->add_status(fd.get(), status);
        EXPECT_EQ(status.st_size, std::ssize(std::to_string(i)));
        EXPECT_EQ(read(*tier), std::to_string(i));
    }
    EXPECT_EQ(tier->move_now(root_ + "/global"), 0);
    EXPECT_EQ(text_in(root_ + "/global/old/7"), "7");
    EXPECT_NE(tier->describe_all("/").find("\"replicas\":30,"), std::string::npos)
        << tier->describe_all("/");
    EXPECT_NE(tier->describe_all("/").find("\"unfound\":0"), std::string::npos);
}

TEST_F(FoundLater, TheEndMovesWhatWasNotFoundYet) {
    leave_files();
    EXPECT_EQ(start("fast/one", "write move=job", long_wait_ns, 0)->finish(), 0);
    for (int i = 0; i < files; ++i) {
        EXPECT_EQ(text_in(root_ + "/global/old/" + std::to_string(i)), std::to_string(i));
    }
}

TEST_F(FoundLater, AFolderIsRenamedWhenAllIsFound) {
    leave_files();
    const auto tier = start_at_once();
    const std::string from = root_ + "/global/old";
    const std::string to = root_ + "/global/new";
    const OwnFd folder{::open(from.c_str(), O_PATH | O_CLOEXEC)};
    tier->before_name_change(folder.get());
    std::filesystem::rename(from, to);
    tier->renamed(from, to);
    EXPECT_EQ(tier->move_now(root_ + "/global"), 0);
    EXPECT_EQ(text_in(to + "/29"), "29");
    EXPECT_EQ(rescued("fast/one"), "");
}

TEST_F(LiveTierTest, AFileThatIsReadIsFilledOnceAndWrittenInPlace) {
    std::ofstream{path_} << "old";
    const auto tier = start("fast/one", kept);
    EXPECT_EQ(read(*tier), "old");
    {
        Program writer{*tier, path_, O_RDWR};
        ASSERT_EQ(writer.error, 0);
        EXPECT_FALSE(writer.in_fast_storage());
        writer.write("new");
    }
    EXPECT_EQ(text_in(path_), "new");
    EXPECT_EQ(read(*tier), "new");
}

// Only one of two folders has replicas that expire.
TEST_F(LiveTierTest, AReplicaGoesWhenItsTimeIsUp) {
    const std::string folder = root_ + "/global/short";
    const std::string words = "preload live=1s";
    std::filesystem::create_directory(folder);
    ASSERT_EQ(::setxattr(folder.c_str(), policy_attribute, words.data(), words.size(), 0), 0);
    std::ofstream{path_} << "stays";
    constexpr std::int64_t often_ns = 1'000'000;
    auto started = LiveTier::start({.fast = root_ + "/fast/one",
                                    .global = root_ + "/global",
                                    .policy = *parse_policy("preload"),
                                    .look_ns = often_ns});
    ASSERT_TRUE(started) << started.error().message;
    LiveTier& tier = **started;
    EXPECT_EQ(read(tier), "stays");
    path_ = folder + "/x";
    std::ofstream{path_} << "goes";
    EXPECT_EQ(read(tier), "goes");
    const auto says = [&](const std::string& words_of_status) {
        return tier.describe_all("/").find(words_of_status) != std::string::npos;
    };
    EXPECT_TRUE(says("\"filled\":2,"));
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!says("\"evicted\":1,") && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    EXPECT_TRUE(says("\"evicted\":1,"));
    EXPECT_TRUE(says("\"replicas\":1,"));
    EXPECT_EQ(text_in(path_), "goes");
}

TEST_F(LiveTierTest, ATierOfAnotherNodeIsAskedAndMoves) {
    const auto one = start("fast/one", kept);
    const auto two = start("fast/two", kept);
    write(*one, "new");
    EXPECT_EQ(read(*two), "new");
    EXPECT_EQ(text_in(path_), "new");
    write(*two, "newer");
    EXPECT_EQ(read(*one), "newer");
    EXPECT_EQ(rescued("fast/one") + rescued("fast/two"), "");
}

TEST_F(LiveTierTest, AnOldReplicaIsNoneWhileAnotherNodeHasNewerBytes) {
    std::ofstream{path_} << "old";
    const auto one = start("fast/one", kept);
    const auto two = start("fast/two", kept);
    EXPECT_EQ(read(*two), "old");
    write(*one, "new");
    EXPECT_EQ(read(*two), "new");
}

TEST_F(LiveTierTest, BytesInAPlaceThatIsNotSeenAreWaitedForAndThenRefused) {
    const auto one = start("fast/one", kept);
    const auto two = start("disk/two", kept, short_wait_ns);
    write(*one, "new");
    EXPECT_EQ(read(*two), "error " + std::to_string(EIO));
    // Whoever wants none of the bytes may write, and the other node's are rescued.
    write(*two, "other");
    EXPECT_EQ(read(*two), "other");
    EXPECT_EQ(two->move_now(path_), 0);
    EXPECT_NE(one->move_now(path_), 0);
    EXPECT_EQ(text_in(path_), "other");
    EXPECT_EQ(rescued("fast/one"), "new");
}

TEST_F(LiveTierTest, WhatADeadTierLeftIsMovedByWhoeverOpensIt) {
    {
        const auto one = start("fast/one", kept);
        write(*one, "new");
        one->leave();
    }
    std::filesystem::rename(path_, root_ + "/global/renamed");
    path_ = root_ + "/global/renamed";
    const auto two = start("fast/two", kept);
    EXPECT_EQ(read(*two), "new");
    EXPECT_EQ(text_in(path_), "new");
    EXPECT_NE(two->describe_all(root_ + "/global").find("\"taken_over\":1"), std::string::npos);
    const auto one = start("fast/one", kept);
    EXPECT_EQ(read(*one), "new");
    EXPECT_EQ(rescued("fast/one"), "");
}

TEST_F(LiveTierTest, BytesThatADeadTierHasLostAreRefused) {
    {
        const auto one = start("fast/one", kept);
        write(*one, "new");
        one->leave();
    }
    std::filesystem::remove_all(root_ + "/fast/one/replicas");
    const auto two = start("fast/two", kept, short_wait_ns);
    EXPECT_EQ(read(*two), "error " + std::to_string(EIO));
}

TEST_F(LiveTierTest, AMarkerThatIsNoMarkerIsIgnored) {
    std::ofstream{path_} << "old";
    ASSERT_EQ(::setxattr(path_.c_str(), marker_attribute, "nonsense", 8, 0), 0);
    const auto one = start("fast/one", kept, short_wait_ns);
    EXPECT_EQ(read(*one), "old");
}

}  // namespace
}  // namespace forebay::tier
