// Tests the report on a daemon that has died.
#include "pool/daemon/liveness/watcher.hpp"

#include "pool/daemon/status/chunked_lines.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::daemon {
namespace {

using pool::FileState;

void hold(pool::FileSlot& slot, const char* path, FileState state, std::int64_t taken,
          std::int64_t drained) {
    std::snprintf(slot.path.data(), slot.path.size(), "%s", path);
    slot.state = state;
    slot.taken = taken;
    slot.drained = drained;
}

class WatcherOf : public testing::Test {
protected:
    ~WatcherOf() override { ::munmap(&directory_, sizeof(pool::Directory)); }

    // Untouched pages take no memory.
    pool::Directory& directory_{*static_cast<pool::Directory*>(
        ::mmap(nullptr, sizeof(pool::Directory), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))};
};

TEST_F(WatcherOf, NamesWhatHoldsBytesByFile) {
    hold(directory_.files[3], "/scratch/b", FileState::pooled, 1000, 400);
    hold(directory_.files[7], "/scratch/a \xff", FileState::leaving, 10, 0);
    hold(directory_.files[8], "/scratch/b", FileState::pooled, 5, 5);
    hold(directory_.files[9], "/scratch/through", FileState::through, 99, 0);
    const auto said = nlohmann::json::parse(told_by_watcher(directory_, 2, "n2"));
    EXPECT_EQ(said.at("schema"), "forebay.pool.lost/1");
    EXPECT_EQ(said.at("node"), 2);
    EXPECT_EQ(said.at("host"), "n2");
    ASSERT_EQ(said.at("files").size(), 2U);
    EXPECT_EQ(said.at("files")[1].at("path"), "/scratch/b");
    EXPECT_EQ(said.at("files")[1].at("bytes"), 600);
    EXPECT_EQ(said.at("files")[0].at("bytes"), 10);
}

// Returns what the watcher prints after the daemon has ended, with or without dismiss().
std::string said_of(const pool::Directory& directory, bool dismissed) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        auto watcher = DaemonWatcher::beside(directory, 1);
        if (!watcher) {
            ::_exit(1);
        }
        if (dismissed) {
            watcher->dismiss();
        }
        ::kill(::getpid(), SIGKILL);
    }
    ::close(ends[1]);
    std::string said;
    std::array<char, 4096> some{};
    for (ssize_t got = 0; (got = ::read(ends[0], some.data(), some.size())) > 0;) {
        said.append(some.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    ::waitpid(daemon, nullptr, 0);
    return said;
}

TEST_F(WatcherOf, SpeaksOnlyWhereTheDaemonHasNotSaidHowItEnds) {
    hold(directory_.files[0], "/scratch/a", FileState::pooled, 7, 0);
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
    EXPECT_EQ(said_of(directory_, false),
              in_parts(1, told_by_watcher(directory_, 1, host.data()))[0] + "\n");
    EXPECT_EQ(said_of(directory_, true), "");
}

}  // namespace
}  // namespace forebay::daemon
