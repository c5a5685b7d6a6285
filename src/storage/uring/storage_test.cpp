// The contract of a Storage through io_uring, and the choice between it and threads. Where the
// kernel forbids io_uring the suite says so and checks the fall-back instead.
#include "storage/uring/storage.hpp"

#include "storage/posix/file_world.hpp"
#include "storage/uring/open.hpp"

#include <array>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

using ports::extent;
using ports::StorageContract;

Opener preferring(Preference preference) {
    return [preference](const std::string& path, Direction direction) {
        return open_storage(path, direction, preference);
    };
}

INSTANTIATE_TEST_SUITE_P(
    Uring, StorageContract,
    testing::Values(file_world("Disk", disk_directory, preferring(Preference::automatic)),
                    file_world("Tmpfs", tmpfs_directory, preferring(Preference::automatic)),
                    file_world("ChosenPosix", tmpfs_directory, preferring(Preference::posix))),
    ports::world_name);

TEST(OpenStorage, TakesUringExactlyWhereItIsAllowed) {
    const bool allowed = uring_allowed();
    const auto automatic = open_storage("/dev/null", Direction::write);
    const auto demanded = open_storage("/dev/null", Direction::write, Preference::uring);
    const auto refused = open_storage("/dev/null", Direction::write, Preference::posix);
    ASSERT_TRUE(automatic.has_value() && refused.has_value());
    EXPECT_STREQ((*automatic)->name(), "direct");
    const ports::Batch batch{{extent(0, 1 << 20)}};
    EXPECT_EQ(ports::finish(**automatic, Direction::write, batch.pieces(), true).system, 0);
    EXPECT_STREQ((*automatic)->name(), "direct");
    EXPECT_EQ(ports::finish(**automatic, Direction::write, batch.pieces()).system, 0);
    EXPECT_STREQ((*automatic)->name(), allowed ? "uring" : "posix");
    EXPECT_EQ(demanded.has_value(), allowed);
    EXPECT_STREQ((*refused)->name(), "posix");
}

TEST(OpenStorage, AMissingFileIsAnErrorInEveryWay) {
    for (const auto preference : {Preference::automatic, Preference::uring, Preference::posix}) {
        const auto storage =
            open_storage("/dev/shm/forebay_test_missing", Direction::write, preference);
        ASSERT_FALSE(storage.has_value());
        EXPECT_EQ(storage.error().code, ErrorCode::no_such_file);
    }
}

TEST(UringStorage, AFullDiskComesAsCompletion) {
    const auto storage = open_storage("/dev/full", Direction::write);
    for (const std::int64_t size : {100, 1'000'000}) {
        const ports::Batch batch{{extent(0, size), extent(5'000'000, size)}};
        EXPECT_EQ(ports::finish(**storage, Direction::write, batch.pieces()).system, ENOSPC);
    }
}

TEST(UringStorage, SmallPiecesCompleteAtOnce) {
    FileWorld world{tmpfs_directory, preferring(Preference::uring)};
    if (!uring_allowed()) {
        GTEST_SKIP() << "io_uring is not allowed here";
    }
    const auto storage = world.open(Direction::write);
    const ports::Batch batch{{extent(0, 100), extent(200, 100)}};
    (*storage)->submit({Direction::write, 3, batch.pieces()});
    ports::Completion completion;
    EXPECT_EQ((*storage)->poll({&completion, 1}), 1U);
    EXPECT_EQ(completion.bytes.bytes(), 200);
}

// Where the pool's daemon waited for one file system, all of its files would.
TEST(UringStorage, ACallerThatNeverWaitsIsNotHeldUpBySmallPieces) {
    if (!uring_allowed()) {
        GTEST_SKIP() << "io_uring is not allowed here";
    }
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const OwnFd from{ends[0]};
    std::array<char, 4096> page{};
    while (::write(ends[1], page.data(), page.size()) > 0) {
    }
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);  // it blocks from now on
    const auto storage =
        storage_of(OwnFd{ends[1]}, "a full pipe", Preference::automatic, Caller::never_waits);
    const ports::Batch batch{{extent(0, 100)}};
    (*storage)->submit({Direction::write, 3, batch.pieces()});
    ports::Completion completion;
    EXPECT_EQ((*storage)->poll({&completion, 1}), 0U);
    while (::read(from.get(), page.data(), page.size()) > 0) {
    }
    EXPECT_EQ((*storage)->wait({&completion, 1}), 1U);
    EXPECT_EQ(completion.bytes.bytes(), 100);
}

// The ring's memory is shared with a forked child: it must not take the parent's answers.
TEST(UringStorage, AForkedChildLeavesTheParentsAnswers) {
    FileWorld world{tmpfs_directory, preferring(Preference::automatic)};
    auto storage = world.open(Direction::write);
    const ports::Batch batch{{extent(0, 4 << 20)}};
    (*storage)->submit({Direction::write, 1, batch.pieces()});
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        storage->reset();
        ::_exit(0);
    }
    const ports::Completion done = ports::wait_one(**storage);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(done.bytes.bytes(), 4 << 20);
}

}  // namespace

}  // namespace forebay::adapters
