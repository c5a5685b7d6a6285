// From a client's write to the file, through the whole daemon: clients and daemons that die, disks
// that are full, daemons that are stopped.
#include "foundation/base/test_time.hpp"
#include "pool/client/log_writer.hpp"
#include "pool/client/reader.hpp"
#include "pool/daemon/tests/server_check.hpp"
#include "storage/posix/futex.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>

namespace forebay::daemon {
namespace {

using check::Greeted;
using check::question;
using check::question_to_open;
using check::World;
using pool::FileId;
using pool::WriteResult;
using protocol::QuestionKind;
using testing::HasSubstr;
using testing::StartsWith;

// The period is a prime number, so that no block has the same bytes as its neighbour.
std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    constexpr std::size_t period = 65521;
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < std::min(bytes, period); ++i) {
        made[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 7U);
    }
    for (std::size_t i = period; i < bytes; i += period) {
        std::memcpy(&made[i], made.data(), std::min(period, bytes - i));
    }
    return made;
}

std::vector<std::byte> contents(const std::string& path) {
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::ifstream file{path, std::ios::binary};
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

// The daemon as seen by a client that maps its memory: it is woken by an eventfd, and the client
// sleeps on futex words.
class MappedDaemon final : public pool::Daemon {
public:
    MappedDaemon(const pool::Directory& directory, const OwnFd& bell)
        : directory_{directory}, bell_{bell} {}
    [[nodiscard]] bool alive() const noexcept override {
        const std::uint32_t word = check::alive_word(directory_).load(std::memory_order_relaxed);
        return (word & check::owner_died) == 0;
    }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return clock_.now_ns(); }
    void kick() noexcept override {
        constexpr std::uint64_t once = 1;
        static_cast<void>(::write(bell_.get(), &once, sizeof once));
    }
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override {
        adapters::futex_wait_for(word, seen, check::milliseconds{5});
    }
    [[nodiscard]] pool::Log log_of(std::uint32_t) noexcept override { return {}; }
    void prepare(std::byte*, std::size_t) noexcept override {}
    [[nodiscard]] bool sees(std::uint32_t) noexcept override { return sees_others; }

    bool sees_others = true;

private:
    const pool::Directory& directory_;
    const OwnFd& bell_;
    adapters::SteadyClock clock_;
};

// A daemon that runs in a thread of its own.
class Running {
public:
    explicit Running(DaemonOptions options = {}) : world{std::move(options)} {}
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { end(); }

    // From here on, only that thread may use the world, until end().
    void start() {
        thread_ = std::thread{[this] { world.server().run(); }};
    }
    // Stops the daemon as `stop` does. Returns the errno of the reply.
    int end() {
        if (!thread_.joinable()) {
            return 0;
        }
        const OwnFd socket = world.connect();
        EXPECT_TRUE(check::send(socket, question(QuestionKind::stop)));
        EXPECT_TRUE(check::readable(socket, 60000));
        const auto told = check::take(socket);
        thread_.join();
        return told ? told->reply.error : -1;
    }

    World world;

private:
    std::thread thread_;
};

// Asks the running daemon, and waits for its reply.
check::Told ask(const OwnFd& socket, const protocol::ClientQuestion& question,
                const std::vector<OwnFd>& descriptors = {}) {
    EXPECT_TRUE(check::send(socket, question, descriptors));
    EXPECT_TRUE(check::readable(socket, 60000));
    auto told = check::take(socket);
    EXPECT_TRUE(told);
    return told ? std::move(*told) : check::Told{};
}

// One client with one file.
class Client {
public:
    // To be made before the daemon is started. `name` is that of the file, in the daemon's folder.
    Client(Running& daemon, const std::string& name)
        : path{daemon.world.folder.path(name)},
          greeted{daemon.world},
          line{greeted.directory(), greeted.bell},
          log_writer{std::make_unique<pool::LogWriter>(greeted.directory(), greeted.log(),
                                                       greeted.client, line)} {
        const auto told =
            daemon.world.ask(greeted.socket, question_to_open(path, protocol::for_writing),
                             check::one(check::open_file(path, O_RDWR | O_CREAT)));
        EXPECT_TRUE(told && told->reply.error == 0);
        file = told ? FileId{told->reply.slot, told->reply.generation} : FileId{};
    }
    [[nodiscard]] protocol::ClientQuestion about(QuestionKind asked,
                                                 std::uint32_t flags = 0) const {
        protocol::ClientQuestion one = question(asked);
        one.slot = file.slot;
        one.generation = file.generation;
        one.flags = flags;
        return one;
    }
    [[nodiscard]] WriteResult write(std::int64_t at, std::span<const std::byte> bytes) {
        return log_writer->write(file, at, bytes);
    }

    std::string path;
    Greeted greeted;
    MappedDaemon line;
    std::unique_ptr<pool::LogWriter> log_writer;
    FileId file;
};

// A client of a daemon in another process, with one file. It does not unmap the daemon's memory.
struct DistantClient {
    DistantClient(OwnFd connected, const std::string& path)
        : socket{std::move(connected)},
          greeting{ask(socket, question(QuestionKind::hello))},
          directory{check::map_directory(greeting.descriptors.at(0))},
          line{directory, greeting.descriptors.at(2)},
          log_writer{directory, check::map_log(greeting.descriptors.at(1)), greeting.reply.client,
                     line} {
        const auto opened = ask(socket, question_to_open(path, protocol::for_writing),
                                check::one(check::open_file(path, O_RDWR | O_CREAT)));
        file = {opened.reply.slot, opened.reply.generation};
    }

    OwnFd socket;
    check::Told greeting;
    const pool::Directory& directory;
    MappedDaemon line;
    pool::LogWriter log_writer;
    FileId file;
};

DaemonOptions small() {
    DaemonOptions options;
    options.pool.cap_bytes = 8 << 20;
    options.pool.window_bytes = 4 << 20;
    return options;
}

TEST(Deposits, ArriveThroughAPoolThatIsSmallerThanThey) {
    Running daemon{small()};
    Client client{daemon, "file"};
    daemon.start();
    const auto bytes = pattern(40 << 20, 1);
    const WriteResult written = client.write(5, bytes);
    EXPECT_EQ(written.taken, bytes.size());
    EXPECT_EQ(written.rest, WriteResult::Rest::none);
    EXPECT_EQ(ask(client.greeted.socket, client.about(QuestionKind::sync, protocol::to_storage))
                  .reply.error,
              0);
    auto expected = bytes;
    expected.insert(expected.begin(), 5, std::byte{0});
    EXPECT_TRUE(contents(client.path) == expected);
    EXPECT_EQ(daemon.end(), 0);
    EXPECT_LE(client.greeted.directory().header.high.load(), 8 << 20);
    EXPECT_GT(client.greeted.directory().files[client.file.slot].waited_ns.load(), 0);
}

TEST(Deposits, OfAClientThatIsKilledArrive) {
    Running daemon;
    const std::string path = daemon.world.folder.path("file");
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const auto bytes = pattern(200 << 20, 2);
    const pid_t program = ::fork();
    if (program == 0) {
        ::alarm(test_seconds(300));
        // Waits for the first byte, which is sent when the daemon runs.
        char go = 0;
        static_cast<void>(::read(ends[0], &go, 1));
        DistantClient client{check::connect_to(daemon.world.options.socket), path};
        const WriteResult written = client.log_writer.write(client.file, 0, bytes);
        ::kill(::getpid(), written.taken == bytes.size() ? SIGKILL : SIGABRT);
    }
    daemon.start();
    ASSERT_EQ(::write(ends[1], "g", 1), 1);
    int status = -1;
    ASSERT_EQ(::waitpid(program, &status, 0), program);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), SIGKILL) << "all was taken";
    EXPECT_EQ(daemon.end(), 0);
    EXPECT_TRUE(contents(path) == bytes);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Deposits, StopSendsFilesPastThePoolAndLeavesNobodyWaiting) {
    Running daemon;
    Client client{daemon, "file"};
    daemon.start();
    const auto bytes = pattern(3 << 20, 3);
    EXPECT_EQ(client.write(0, bytes).rest, WriteResult::Rest::none);
    EXPECT_EQ(daemon.end(), 0);
    EXPECT_TRUE(contents(client.path) == bytes);
    EXPECT_EQ(client.write(0, bytes).rest, WriteResult::Rest::through);
    EXPECT_TRUE(client.line.alive()) << "it ended well: nobody is to fail";
}

// A small file system, to be filled up.
class SmallDisk {
public:
    explicit SmallDisk(const std::string& path) : path_{path} {
        ::mkdir(path.c_str(), 0755);
        mounted = ::mount("none", path.c_str(), "tmpfs", 0, "size=32m") == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (mounted) {
            ::umount2(path_.c_str(), MNT_DETACH);
        }
    }
    /** From this moment on there are 4 MiB of room: no look of the daemon falls between. */
    [[nodiscard]] int becomes_small() const {
        return ::mount("none", path_.c_str(), "tmpfs", MS_REMOUNT, "size=4m");
    }
    bool mounted = false;

private:
    std::string path_;
};

// Regression: the reader cannot map the writer's log, and waits for a round of the daemon that has
// ended.
TEST(Deposits, ADaemonThatEndsLeavesNoReaderWaiting) {
    Running daemon;
    Client writer{daemon, "file"};
    Client other{daemon, "file"};
    other.line.sees_others = false;
    pool::PoolReader reader{other.greeted.directory(), other.line, {}};
    daemon.start();
    EXPECT_EQ(writer.write(0, pattern(100, 1)).taken, 100U);
    EXPECT_EQ(reader.deposited_size(other.file), 100);
    EXPECT_EQ(daemon.end(), 0);
    daemon.world.end();
    EXPECT_GE(reader.deposited_size(other.file), 0);
}

TEST(Deposits, ThatFindTheDiskFullAreToldAndRescued) {
    DaemonOptions options;
    options.pool.quiet_ns = 60'000'000'000;
    Running daemon{std::move(options)};
    const SmallDisk disk{daemon.world.folder.path("disk")};
    if (!disk.mounted) {
        GTEST_SKIP() << "needs a file system of its own (run as root)";
    }
    Client client{daemon, "disk/file"};
    daemon.start();
    const auto bytes = pattern(6 << 20, 4);
    // The file system has room while this is written: otherwise the file would leave the pool, at
    // once or a little later.
    const WriteResult written = client.write(0, bytes);
    EXPECT_EQ(written.taken, bytes.size());
    EXPECT_EQ(disk.becomes_small(), 0);
    const int error = ask(client.greeted.socket, client.about(QuestionKind::sync)).reply.error;
    EXPECT_EQ(error, ENOSPC);
    const int told = daemon.end();
    EXPECT_TRUE(told == ENOSPC || told == EIO) << told;
    const auto& rescued = daemon.world.server().rescued();
    ASSERT_EQ(rescued.size(), 1U);
    EXPECT_EQ(rescued[0].path, client.path);
    EXPECT_EQ(rescued[0].error, ENOSPC);
    EXPECT_THAT(rescued[0].file, StartsWith(daemon.world.folder.name()));
    EXPECT_GT(rescued[0].bytes, 0);

    // All acknowledged bytes are in the file or in the rescue file.
    auto there = contents(client.path);
    there.resize(written.taken);
    const auto kept = contents(rescued[0].file);
    std::size_t at = 0;
    for (int lines = 0; lines < 2; ++at) {
        lines += kept.at(at) == std::byte{'\n'} ? 1 : 0;
    }
    while (at < kept.size()) {
        std::array<std::uint64_t, 2> place{};
        std::memcpy(place.data(), &kept.at(at), sizeof place);
        at += 24;
        ASSERT_LE(place[0] + place[1], there.size());
        std::memcpy(&there.at(place[0]), &kept.at(at), place[1]);
        at += place[1];
    }
    EXPECT_TRUE(std::equal(there.begin(), there.end(), bytes.begin()));
}

TEST(Deposits, ADaemonThatIsKilledFailsItsClientsAndDoesNotHangThem) {
    DaemonOptions options = small();
    options.pool.cap_bytes = 2 << 20;  // the client will wait for credit
    options.pool.quiet_ns = 1'000'000'000'000;
    const check::DaemonProcess daemon{options};
    const std::string path = daemon.folder.path("file");
    DistantClient client{daemon.connect(), path};
    ASSERT_EQ(client.greeting.descriptors.size(), 3U);
    const auto bytes = pattern(1 << 20, 5);
    EXPECT_EQ(client.log_writer.write(client.file, 0, bytes).rest, WriteResult::Rest::none);
    std::thread killer{[&] { daemon.kill(); }};
    WriteResult written;
    while (written.rest == WriteResult::Rest::none) {
        written = client.log_writer.write(client.file, 0, bytes);
    }
    killer.join();
    EXPECT_EQ(written.rest, WriteResult::Rest::lost);
    daemon.await_death();
    EXPECT_EQ(client.log_writer.write(client.file, 0, bytes).rest, WriteResult::Rest::lost);
    // The directory that is still mapped tells what was lost.
    const pool::FileSlot& slot = client.directory.files[client.file.slot];
    EXPECT_GE(slot.taken.load(), slot.drained.load());
    EXPECT_STREQ(slot.path.data(), path.c_str());
}

// Regression: execve() of a program that had just been written failed with ETXTBSY, since the
// daemon had not closed it yet.
TEST(Deposits, OfAProgramAreClosedBeforeItIsRun) {
    Running daemon;
    Client client{daemon, "program"};
    daemon.start();
    const auto bytes = pattern(100'000, 7);
    struct stat found{};
    ASSERT_EQ(::stat(client.path.c_str(), &found), 0);
    protocol::ClientQuestion run = question(QuestionKind::run);
    run.number = static_cast<std::int64_t>(found.st_dev);
    run.inode = found.st_ino;
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(client.write(0, bytes).rest, WriteResult::Rest::none);
        EXPECT_EQ(ask(client.greeted.socket, client.about(QuestionKind::close)).reply.error, 0);
        EXPECT_EQ(ask(client.greeted.socket, run).reply.error, 0);
        for (const auto& one : std::filesystem::directory_iterator{"/proc/self/fd"}) {
            std::error_code gone;  // the iterator's own
            EXPECT_NE(std::filesystem::read_symlink(one, gone), client.path);
        }
        const auto told =
            ask(client.greeted.socket, question_to_open(client.path, protocol::for_writing),
                check::one(check::open_file(client.path, O_RDWR)));
        ASSERT_EQ(told.reply.error, 0);
        EXPECT_EQ(ask(client.greeted.socket, run).reply.error, 0) << "it is open: nobody waits";
        client.file = {told.reply.slot, told.reply.generation};
    }
}

TEST(Deposits, AreToldOfInTheStatus) {
    Running daemon;
    {
        Client client{daemon, "file"};
        daemon.start();
        EXPECT_EQ(client.write(0, pattern(1 << 20, 6)).rest, WriteResult::Rest::none);
        EXPECT_EQ(ask(client.greeted.socket, client.about(QuestionKind::sync)).reply.error, 0);
    }
    EXPECT_EQ(daemon.end(), 0);
    std::ifstream report{daemon.world.options.socket + ".report"};
    const std::string text{std::istreambuf_iterator<char>{report}, {}};
    EXPECT_THAT(text, HasSubstr(R"("taken":1048576,"drained":1048576,"outstanding":0)"));
    EXPECT_THAT(text, HasSubstr(R"("storage_bytes":1048576)"));
}

TEST(Deposits, OfAClientWhoseLogMakesNoSenseEndItsConnectionOnly) {
    Running daemon;
    Client bad{daemon, "file"};
    Client good{daemon, "other"};
    daemon.start();
    bad.greeted.log().header().entries.store(~std::uint64_t{0} / 2);
    for (std::uint64_t number = 0; number < pool::entries_max; ++number) {
        pool::Entry& entry = bad.greeted.log().entry(number);
        entry.length = 0xFFFFFFFF;
        entry.position = ~std::uint64_t{0};
        entry.state = pool::stated(number, pool::EntryState::committed);
    }
    bad.line.kick();
    EXPECT_TRUE(check::readable(bad.greeted.socket, 60000));
    EXPECT_FALSE(check::take(bad.greeted.socket)) << "the connection has ended";
    EXPECT_EQ(good.write(0, pattern(1 << 20, 7)).rest, WriteResult::Rest::none);
    EXPECT_EQ(daemon.end(), 0);
    EXPECT_TRUE(contents(daemon.world.folder.path("other")) == pattern(1 << 20, 7));
}

}  // namespace
}  // namespace forebay::daemon
