// The contract of FileStorage through io_uring, and the choice between it and threads. If the
// kernel forbids io_uring, the suite says so and tests the fallback instead.
#include "storage/uring/storage.hpp"

#include "foundation/base/test_time.hpp"
#include "storage/posix/file_world.hpp"
#include "storage/posix/forked_check.hpp"
#include "storage/uring/open.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

using ports::extent;
using ports::StorageContract;

Opener preferring(StoragePreference preference) {
    return [preference](const std::string& path, IoDirection direction) {
        return open_storage(path, direction, preference);
    };
}

INSTANTIATE_TEST_SUITE_P(
    Uring, StorageContract,
    testing::Values(file_world("Disk", disk_directory, preferring(StoragePreference::automatic)),
                    file_world("Tmpfs", tmpfs_directory, preferring(StoragePreference::automatic)),
                    file_world("ChosenPosix", tmpfs_directory,
                               preferring(StoragePreference::posix))),
    ports::world_name);

TEST(OpenStorage, TakesUringExactlyWhereItIsAllowed) {
    const bool allowed = uring_allowed();
    const auto automatic = open_storage("/dev/null", IoDirection::write);
    const auto demanded = open_storage("/dev/null", IoDirection::write, StoragePreference::uring);
    const auto refused = open_storage("/dev/null", IoDirection::write, StoragePreference::posix);
    ASSERT_TRUE(automatic.has_value() && refused.has_value());
    EXPECT_STREQ((*automatic)->name(), "direct");
    const ports::Batch batch{{extent(0, 1 << 20)}};
    EXPECT_EQ(ports::finish(**automatic, IoDirection::write, batch.pieces(), true).system, 0);
    EXPECT_STREQ((*automatic)->name(), "direct");
    EXPECT_EQ(ports::finish(**automatic, IoDirection::write, batch.pieces()).system, 0);
    EXPECT_STREQ((*automatic)->name(), allowed ? "uring" : "posix");
    EXPECT_EQ(demanded.has_value(), allowed);
    EXPECT_STREQ((*refused)->name(), "posix");
}

TEST(OpenStorage, AMissingFileIsAnErrorInEveryWay) {
    for (const auto preference :
         {StoragePreference::automatic, StoragePreference::uring, StoragePreference::posix}) {
        const auto storage =
            open_storage("/dev/shm/forebay_test_missing", IoDirection::write, preference);
        ASSERT_FALSE(storage.has_value());
        EXPECT_EQ(storage.error().code, ErrorCode::no_such_file);
    }
}

TEST(UringStorage, AFullDiskComesAsCompletion) {
    const auto storage = open_storage("/dev/full", IoDirection::write);
    for (const std::int64_t size : {100, 1'000'000}) {
        const ports::Batch batch{{extent(0, size), extent(5'000'000, size)}};
        EXPECT_EQ(ports::finish(**storage, IoDirection::write, batch.pieces()).system, ENOSPC);
    }
}

TEST(UringStorage, SmallPiecesCompleteAtOnce) {
    FileWorld world{tmpfs_directory, preferring(StoragePreference::uring)};
    if (!uring_allowed()) {
        GTEST_SKIP() << "io_uring is not allowed here";
    }
    const auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 100), extent(200, 100)}};
    (*storage)->submit({IoDirection::write, 3, batch.pieces()});
    ports::RequestCompletion completion;
    EXPECT_EQ((*storage)->poll({&completion, 1}), 1U);
    EXPECT_EQ(completion.bytes.bytes(), 200);
}

// If the pool's daemon blocked on one file system, all of its files would have to wait.
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
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);  // blocking from now on
    const auto storage = storage_of(OwnFd{ends[1]}, "a full pipe", StoragePreference::automatic,
                                    SubmitterKind::never_waits);
    const ports::Batch batch{{extent(0, 100)}};
    (*storage)->submit({IoDirection::write, 3, batch.pieces()});
    ports::RequestCompletion completion;
    EXPECT_EQ((*storage)->poll({&completion, 1}), 0U);
    while (::read(from.get(), page.data(), page.size()) > 0) {
    }
    EXPECT_EQ((*storage)->wait({&completion, 1}), 1U);
    EXPECT_EQ(completion.bytes.bytes(), 100);
}

// A forked child shares the ring's memory and must not take the parent's completions.
TEST(UringStorage, AForkedChildLeavesTheParentsAnswers) {
    FileWorld world{tmpfs_directory, preferring(StoragePreference::automatic)};
    auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 4 << 20)}};
    (*storage)->submit({IoDirection::write, 1, batch.pieces()});
    const pid_t child = forked([&] {
        storage->reset();
        return 0;
    });
    const ports::RequestCompletion done = ports::wait_one(**storage);
    EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(done.bytes.bytes(), 4 << 20);
}

// An earlier version counted the parent's request as the child's: sync() and close() aborted.
TEST(UringStorage, AForkedChildHasNothingInFlight) {
    FileWorld world{tmpfs_directory, preferring(StoragePreference::automatic)};
    auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 4 << 20)}};
    (*storage)->submit({IoDirection::write, 1, batch.pieces()});
    const pid_t child = forked([&] { return uses_inherited(**storage); });
    EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(ports::wait_one(**storage).bytes.bytes(), 4 << 20);
    EXPECT_TRUE(world.contents(extent(0, 8 << 20)) == ports::bytes_at(extent(0, 8 << 20)));
}

// An earlier version took the completion out of the memory that it shared with its parent, which
// then waited forever.
TEST(UringStorage, AForkedChildDoesNotWaitForTheParentsAnswers) {
    FileWorld world{tmpfs_directory, preferring(StoragePreference::automatic)};
    auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 4 << 20)}};
    (*storage)->submit({IoDirection::write, 1, batch.pieces()});
    const pid_t child = forked([&] {
        ports::wait_one(**storage);
        return 0;
    });
    const int status = status_of(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << "it is told of its mistake";
    ::alarm(test_seconds(100));
    EXPECT_EQ(ports::wait_one(**storage).bytes.bytes(), 4 << 20);
    ::alarm(0);
}

}  // namespace

}  // namespace forebay::adapters
