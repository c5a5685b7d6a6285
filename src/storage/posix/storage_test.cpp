// The contract of FileStorage on real files, and behaviour with threads and fork.
#include "storage/posix/storage.hpp"

#include "storage/posix/file_world.hpp"
#include "storage/posix/forked_check.hpp"

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

using ports::extent;
using ports::StorageContract;

Opener with_threads(int threads) {
    return [threads](const std::string& path, IoDirection direction) {
        return open_posix(path, direction, PosixStorageOptions{.threads = threads});
    };
}

Result<std::unique_ptr<ports::FileStorage>> writing_out(const std::string& path,
                                                        IoDirection direction) {
    return open_posix(path, direction, PosixStorageOptions{.writes_out = true});
}

INSTANTIATE_TEST_SUITE_P(Posix, StorageContract,
                         testing::Values(file_world("Disk", disk_directory, with_threads(2)),
                                         file_world("Tmpfs", tmpfs_directory, with_threads(2)),
                                         file_world("OneThread", tmpfs_directory, with_threads(1)),
                                         file_world("NoThread", tmpfs_directory, with_threads(0)),
                                         file_world("WrittenOut", disk_directory, writing_out)),
                         ports::world_name);

TEST(PosixStorage, AFullDiskComesAsCompletion) {
    const auto storage = open_posix("/dev/full", IoDirection::write);
    ASSERT_TRUE(storage.has_value());
    const ports::Batch batch{{extent(0, 100'000)}};
    EXPECT_EQ(ports::finish(**storage, IoDirection::write, batch.pieces()).system, ENOSPC);
}

// Pages of the file that the device does not have yet, by cachestat (Linux 6.5); nullopt: the
// kernel does not tell.
std::optional<std::uint64_t> pages_not_written_out(const std::string& path) {
    constexpr long cachestat = 451;
    struct {
        std::uint64_t at = 0;
        std::uint64_t bytes = 0;  // 0: to the end
    } range;
    struct {
        std::uint64_t cached, dirty, in_writeback, evicted, recently_evicted;
    } pages{};
    const OwnFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (::syscall(cachestat, fd.get(), &range, &pages, 0) != 0) {
        return std::nullopt;
    }
    return pages.dirty + pages.in_writeback;
}

// In a small control group, dirty pages that nobody had begun to write out were all its memory, and
// the kernel killed the program.
TEST(PosixStorage, WrittenOutLeavesNoDirtyPages) {
    const ports::Batch batch{{extent(0, 4 << 20), extent(8 << 20, 100'000)}};
    FileWorld usual{disk_directory, with_threads(2)};
    auto storage = usual.open(IoDirection::write);
    static_cast<void>(ports::finish(**storage, IoDirection::write, batch.pieces()));
    if (pages_not_written_out(usual.path()).value_or(0) == 0) {
        GTEST_SKIP() << "no page is dirty after a write (tmpfs, or the kernel does not tell)";
    }
    FileWorld world{disk_directory, writing_out};
    storage = world.open(IoDirection::write);
    static_cast<void>(ports::finish(**storage, IoDirection::write, batch.pieces()));
    EXPECT_EQ(pages_not_written_out(world.path()), 0U);
    EXPECT_TRUE(world.contents(extent(0, 4 << 20)) == ports::bytes_at(extent(0, 4 << 20)));
}

TEST(PosixStorage, AMissingFileIsNotMade) {
    const std::string path = std::string{tmpfs_directory} + "/forebay_test_missing";
    const auto storage = open_posix(path, IoDirection::write);
    ASSERT_FALSE(storage.has_value());
    EXPECT_EQ(storage.error().code, ErrorCode::no_such_file);
    EXPECT_NE(storage.error().message.find(path), std::string::npos);
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(PosixStorage, ThePoolTakesNoSignals) {
    struct sigaction action{};
    struct sigaction before{};
    action.sa_handler = [](int) {
        if (::syscall(SYS_gettid) != ::getpid()) {
            ::_exit(99);
        }
    };
    ::sigaction(SIGUSR1, &action, &before);
    FileWorld world{tmpfs_directory, with_threads(2)};
    const auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 100'000)}};
    for (int i = 0; i < 50; ++i) {
        static_cast<void>(ports::finish(**storage, IoDirection::write, batch.pieces()));
        ::kill(::getpid(), SIGUSR1);
    }
    ::sigaction(SIGUSR1, &before, nullptr);
}

// A child that inherits a handle without its threads must neither hang nor crash, whether it uses
// the handle, closes it or just exits.
TEST(PosixStorage, AForkedChildGoesOn) {
    FileWorld world{tmpfs_directory, with_threads(2)};
    auto storage = world.open(IoDirection::write);
    const ports::Batch first{{extent(0, 1000)}};
    static_cast<void>(ports::finish(**storage, IoDirection::write, first.pieces()));
    const pid_t child = forked([&] {
        const ports::Batch batch{{extent(1000, 1000)}};
        const auto done = ports::finish(**storage, IoDirection::write, batch.pieces());
        const bool closed = (*storage)->close().has_value();
        storage->reset();
        return done.system == 0 && closed ? 0 : 1;
    });
    EXPECT_EQ(status_of(child), 0);
    static_cast<void>(ports::finish(**storage, IoDirection::write, first.pieces()));
    EXPECT_TRUE(world.contents(extent(0, 2000)) == ports::bytes_at(extent(0, 2000)));
}

// An earlier version counted the parent's request as the child's: sync() aborted, and poll() took
// a lock that one of the parent's threads may have held.
TEST(PosixStorage, AForkedChildHasNothingInFlight) {
    FileWorld world{tmpfs_directory, with_threads(2)};
    auto storage = world.open(IoDirection::write);
    const ports::Batch batch{{extent(0, 4 << 20)}};
    (*storage)->submit({IoDirection::write, 1, batch.pieces()});
    const pid_t child = forked([&] { return uses_inherited(**storage); });
    EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(ports::wait_one(**storage).bytes.bytes(), 4 << 20);
    EXPECT_TRUE(world.contents(extent(0, 8 << 20)) == ports::bytes_at(extent(0, 8 << 20)));
}

}  // namespace

}  // namespace forebay::adapters
