// Sessions over real sockets: which clients are accepted, which questions are answered, and how.
#include "foundation/base/test_time.hpp"
#include "pool/daemon/requests/opening.hpp"
#include "pool/daemon/tests/server_check.hpp"

#include <cerrno>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace forebay::daemon {
namespace {

using check::Greeted;
using check::question;
using check::question_to_open;
using check::World;
using protocol::QuestionKind;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

TEST(DaemonServer, GivesAClientWhatItMapsAndNothingToDamageItWith) {
    World world;
    const Greeted client{world};
    EXPECT_EQ(client.directory().header.format.load(), pool::format);
    EXPECT_EQ(client.directory().header.process.load(), static_cast<std::uint64_t>(::getpid()));
    client.log().header().format.store(pool::format);
    client.log().block(0)[0] = std::byte{1};

    constexpr int writable = PROT_READ | PROT_WRITE;
    EXPECT_EQ(::mmap(nullptr, 4096, writable, MAP_SHARED, client.directory_fd.get(), 0),
              MAP_FAILED);
    const std::string again = "/proc/self/fd/" + std::to_string(client.directory_fd.get());
    const OwnFd opened{::open(again.c_str(), O_RDWR | O_CLOEXEC)};
    if (opened.valid()) {
        EXPECT_EQ(::mmap(nullptr, 4096, writable, MAP_SHARED, opened.get(), 0), MAP_FAILED);
        EXPECT_EQ(::pwrite(opened.get(), "x", 1, 0), -1);
    }
    EXPECT_NE(::ftruncate(client.log_fd.get(), 4096), 0) << "nobody makes a log shorter";
}

TEST(DaemonServer, GivesTheLogsOfOthersForReadingOnly) {
    World world;
    const Greeted writer{world};
    const Greeted reader{world};
    const auto told = world.ask(reader.socket, question(QuestionKind::log, writer.client));
    ASSERT_TRUE(told && told->reply.error == 0);
    EXPECT_EQ(told->reply.client, writer.client);
    EXPECT_EQ(::fcntl(told->descriptors.at(0).get(), F_GETFL) & O_ACCMODE, O_RDONLY);
    const auto none = world.ask(reader.socket, question(QuestionKind::log, 200));
    ASSERT_TRUE(none);
    EXPECT_EQ(none->reply.error, ENOENT);
}

protocol::ClientQuestion about_log(QuestionKind asked, std::uint64_t name) {
    protocol::ClientQuestion one = question(asked);
    one.group = name;
    return one;
}

TEST(DaemonServer, LetsWhoKnowsTheNameWriteToALogThatIsLent) {
    World world;
    const Greeted lender{world};
    const Greeted borrower{world};
    const auto error_of = [&](const Greeted& asks, const protocol::ClientQuestion& asked) {
        const auto told = world.ask(asks.socket, asked);
        return told ? told->reply.error : -1;
    };
    EXPECT_EQ(error_of(borrower, about_log(QuestionKind::borrow, 7)), ENOENT);
    EXPECT_EQ(error_of(lender, about_log(QuestionKind::lend, 7)), 0);
    EXPECT_EQ(error_of(lender, about_log(QuestionKind::lend, 7)), 0) << "it may say so again";
    EXPECT_EQ(error_of(lender, about_log(QuestionKind::lend, 8)), EEXIST);
    EXPECT_EQ(error_of(borrower, about_log(QuestionKind::lend, 7)), EEXIST);
    EXPECT_EQ(error_of(borrower, about_log(QuestionKind::borrow, 8)), ENOENT);

    const auto told = world.ask(borrower.socket, about_log(QuestionKind::borrow, 7));
    ASSERT_TRUE(told && told->reply.error == 0);
    constexpr int writable = PROT_READ | PROT_WRITE;
    void* const at = ::mmap(nullptr, pool::LogShape::bytes, writable, MAP_SHARED | MAP_NORESERVE,
                            told->descriptors.at(0).get(), 0);
    ASSERT_NE(at, MAP_FAILED);
    pool::Log{static_cast<std::byte*>(at)}.block(0)[5] = std::byte{42};
    EXPECT_EQ(lender.log().block(0)[5], std::byte{42});
    ::munmap(at, pool::LogShape::bytes);
}

TEST(DaemonServer, WhoWatchesIsNoClient) {
    World world;
    const OwnFd socket = world.connect();
    const auto told = world.ask(socket, question(QuestionKind::watch));
    ASSERT_TRUE(told && told->reply.error == 0);
    EXPECT_EQ(told->reply.number, static_cast<std::int64_t>(sizeof(pool::Directory)));
    EXPECT_EQ(told->descriptors.size(), 1U);
    EXPECT_THAT(world.status(), HasSubstr(R"("clients":[])"));
    for (const QuestionKind asked :
         {QuestionKind::open, QuestionKind::close, QuestionKind::sync, QuestionKind::leave,
          QuestionKind::truncate, QuestionKind::lend}) {
        const auto refused = world.ask(socket, about_log(asked, 7));
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->reply.error, ENOTCONN);
    }
}

TEST(DaemonServer, GreetsAClientOnce) {
    World world;
    const Greeted client{world};
    const auto again = world.ask(client.socket, question(QuestionKind::hello));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->reply.error, EALREADY);
    EXPECT_TRUE(again->descriptors.empty());
}

// It may be a library of another version, whose process goes on beside the pool: as with one that
// is not captured, all files have left when it is answered.
TEST(DaemonServer, AnswersGarbageWhenAllFilesHaveLeftAndGoesOnWithOthers) {
    World world;
    const Greeted client{world};
    std::vector<std::vector<std::byte>> garbage;
    garbage.emplace_back(1, std::byte{7});
    garbage.emplace_back(sizeof(protocol::ClientQuestion), std::byte{0xFF});
    garbage.emplace_back(sizeof(protocol::ClientQuestion) + 1, std::byte{0});
    garbage.emplace_back(5000, std::byte{1});
    for (const auto& bytes : garbage) {
        const OwnFd socket = world.connect();
        ASSERT_EQ(deliver(socket.get(), bytes, {}), SendResult::done);
        const auto told = world.answer(socket);
        ASSERT_TRUE(told);
        EXPECT_EQ(told->reply.ask, QuestionKind::uncaptured);
        ASSERT_EQ(deliver(socket.get(), bytes, {}), SendResult::done);
        const auto again = world.answer(socket);
        ASSERT_TRUE(again);
        EXPECT_EQ(again->reply.error, EPROTO);
        EXPECT_FALSE(world.answer(socket)) << "the connection is closed";
    }
    const auto told = world.ask(client.socket, question(QuestionKind::watch));
    EXPECT_TRUE(told && told->reply.error == 0);
}

TEST(DaemonServer, AnEmptyMessageIsTheEnd) {
    World world;
    const OwnFd socket = world.connect();
    ASSERT_EQ(::send(socket.get(), "", 0, 0), 0);
    EXPECT_FALSE(world.answer(socket));
}

// The listening socket stays readable for as long as a connection waits in its queue.
TEST(DaemonServer, IsNotBusyWithAConnectionThatItCanNeitherAcceptNorReject) {
    World world;
    const OwnFd client = world.connect();
    testing::internal::CaptureStderr();
    {
        const check::DescriptorLimit limit{0};
        for (int turn = 0; turn < 20; ++turn) {
            world.server().run_once(milliseconds{1});
        }
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::size_t first = said.find("no descriptors are left");
    ASSERT_NE(first, std::string::npos) << said;
    EXPECT_EQ(said.find("no descriptors are left", first + 1), std::string::npos) << said;
    const auto told = world.ask(client, question(QuestionKind::watch));
    EXPECT_TRUE(told && told->reply.error == 0) << "it is accepted later";
}

TEST(DaemonServer, ClosesDescriptorsThatNobodyAskedFor) {
    World world;
    const OwnFd socket = world.connect();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const OwnFd reading{ends[0]};
    const auto told = world.ask(socket, question(QuestionKind::status), check::one(OwnFd{ends[1]}));
    ASSERT_TRUE(told && told->reply.error == 0);
    char byte = 0;
    EXPECT_EQ(::read(reading.get(), &byte, 1), 0) << "nobody holds the other end any more";
}

TEST(DaemonServer, ForgetsAClientWhoseConnectionEnds) {
    World world;
    const OwnFd watching = world.connect();
    const auto told = world.ask(watching, question(QuestionKind::watch));
    ASSERT_TRUE(told);
    std::uint32_t client = 0;
    {
        const Greeted dying{world};
        client = dying.client;
        EXPECT_THAT(world.status(), Not(HasSubstr(R"("clients":[])")));
    }
    const OwnFd other = world.connect();
    EXPECT_TRUE(world.turn_until([&] {
        const auto log = world.ask(other, question(QuestionKind::log, client));
        return log && log->reply.error == ENOENT;
    }));
    EXPECT_THAT(world.status(), HasSubstr(R"("clients":[])"));
}

TEST(DaemonServer, OpensOnlyPlainFilesThatTheClientMayWrite) {
    World world;
    const Greeted client{world};
    const std::string path = world.folder.path("file");
    const auto error_of = [&](std::uint32_t flags, std::vector<OwnFd> descriptors) {
        const auto told =
            world.ask(client.socket, question_to_open(path, flags), std::move(descriptors));
        return told ? told->reply.error : -1;
    };
    EXPECT_EQ(error_of(protocol::for_writing, {}), EBADF) << "without a descriptor";
    EXPECT_EQ(error_of(0, check::one(OwnFd{::eventfd(0, EFD_CLOEXEC)})), EINVAL);
    EXPECT_EQ(error_of(0, check::one(check::open_file("/dev/null", O_RDWR))), EINVAL);
    EXPECT_EQ(error_of(0, check::one(check::open_file(world.folder.name(), O_RDONLY))), EINVAL);
    EXPECT_EQ(error_of(protocol::for_writing, check::one(check::open_file(path, O_RDWR | O_CREAT))),
              0);
    EXPECT_EQ(error_of(protocol::for_writing, check::one(check::open_file(path, O_RDONLY))), EBADF);
    EXPECT_EQ(error_of(0, check::one(check::open_file(path, O_RDONLY))), 0);
    EXPECT_EQ(error_of(0, check::one(check::open_file(path, O_PATH))), EINVAL);
}

// Git creates its objects with mode 0444, and writes them through the descriptor that created them.
TEST(DaemonServer, OpensAFileThatMayOnlyBeWrittenThroughItsFirstDescriptor) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs another user's rights (run as root)";
    }
    const check::Folder folder;
    ASSERT_EQ(::chmod(folder.name().c_str(), 0777), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (::setresuid(nobody, nobody, nobody) != 0) {
            ::_exit(2);
        }
        const OwnFd made{::open(folder.path("object").c_str(), O_RDWR | O_CREAT | O_EXCL, 0444)};
        const auto file = open_again(made, {folder.path("object"), pool::AccessMode::write},
                                     adapters::StoragePreference::posix);
        const bool good = file && file->storage && file->control->truncate(Length{5}) == 0;
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::filesystem::file_size(folder.path("object")), 5U);
}

TEST(DaemonServer, OnlyWhoOpenedAFileForWritingTruncatesIt) {
    World world;
    const Greeted writer{world};
    const Greeted reader{world};
    const std::string path = world.folder.path("file");
    const auto opened = world.ask(writer.socket, question_to_open(path, protocol::for_writing),
                                  check::one(check::open_file(path, O_RDWR | O_CREAT)));
    ASSERT_TRUE(opened && opened->reply.error == 0);
    const auto read = world.ask(reader.socket, question_to_open(path, 0),
                                check::one(check::open_file(path, O_RDONLY)));
    ASSERT_TRUE(read && read->reply.error == 0);
    EXPECT_EQ(read->reply.slot, opened->reply.slot) << "it is the same file";

    protocol::ClientQuestion truncate = question(QuestionKind::truncate, 77);
    truncate.slot = opened->reply.slot;
    truncate.generation = opened->reply.generation;
    const auto refused = world.ask(reader.socket, truncate);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reply.error, EBADF);
    const auto done = world.ask(writer.socket, truncate);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->reply.error, 0);
    EXPECT_EQ(std::filesystem::file_size(path), 77U);
}

// The times of its deposits would put them in a wrong order, and behind its own close.
TEST(DaemonServer, AProcessWithAnotherClockGetsNoLog) {
    constexpr std::int64_t hour_ns = 3'600'000'000'000;
    for (const std::int64_t ahead_ns : {hour_ns, -hour_ns}) {
        World world;
        const OwnFd socket = world.connect();
        protocol::ClientQuestion hello = question(QuestionKind::hello, ::getpid());
        const std::int64_t now_ns =
            std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
        hello.group = static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns + ahead_ns, 1));
        const auto admitted = world.ask(socket, hello);
        ASSERT_TRUE(admitted && admitted->reply.error == 0);
        EXPECT_TRUE(admitted->descriptors.empty()) << ahead_ns;
        hello.group = static_cast<std::uint64_t>(now_ns);
        const auto again = world.ask(world.connect(), hello);
        EXPECT_TRUE(again && !again->descriptors.empty()) << "the daemon's clock";
    }
}

// It was admitted without a log at first, as descriptors were scarce.
TEST(DaemonServer, AClientThatIsAdmittedAnewHasOpenedNothingForWriting) {
    World world;
    const OwnFd socket = world.connect();
    const protocol::ClientQuestion hello = question(QuestionKind::hello, ::getpid());
    {
        constexpr rlim_t enough_for_a_socket = 25;
        const check::DescriptorLimit limit{check::DescriptorLimit::all_are_used() +
                                           enough_for_a_socket};
        const auto admitted = world.ask(socket, hello);
        ASSERT_TRUE(admitted && admitted->reply.error == 0);
        ASSERT_TRUE(admitted->descriptors.empty()) << "it has no log";
    }
    const std::string path = world.folder.path("file");
    const auto opened = world.ask(socket, question_to_open(path, protocol::for_writing),
                                  check::one(check::open_file(path, O_RDWR | O_CREAT)));
    ASSERT_TRUE(opened && opened->reply.error == 0);
    const auto admitted = world.ask(socket, hello);
    ASSERT_TRUE(admitted && admitted->reply.error == 0);
    ASSERT_FALSE(admitted->descriptors.empty()) << "now it has one";

    protocol::ClientQuestion truncate = question(QuestionKind::truncate, 77);
    truncate.slot = opened->reply.slot;
    truncate.generation = opened->reply.generation;
    const auto refused = world.ask(socket, truncate);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reply.error, EBADF);
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
}

TEST(DaemonServer, AFileThatIsToLeaveIsWrittenThroughWhenItIsOpen) {
    World world;
    const Greeted client{world};
    const std::string path = world.folder.path("file");
    protocol::ClientQuestion opening =
        question_to_open(path, protocol::for_writing | protocol::through_only);
    opening.number = static_cast<std::int64_t>(pool::ThroughReason::append);
    const auto told = world.ask(client.socket, opening,
                                check::one(check::open_file(path, O_WRONLY | O_CREAT | O_APPEND)));
    ASSERT_TRUE(told && told->reply.error == 0);
    EXPECT_EQ(told->reply.state, static_cast<std::uint32_t>(pool::FileState::through));
    EXPECT_THAT(world.status(), HasSubstr(R"("reason":"append")"));
}

TEST(DaemonServer, PoolsNothingWhereDurabilityIsGlobal) {
    DaemonOptions daemon;
    daemon.through = true;
    World world{daemon};
    const Greeted client{world};
    const std::string path = world.folder.path("file");
    const auto told = world.ask(client.socket, question_to_open(path, protocol::for_writing),
                                check::one(check::open_file(path, O_RDWR | O_CREAT)));
    ASSERT_TRUE(told && told->reply.error == 0);
    EXPECT_EQ(told->reply.state, static_cast<std::uint32_t>(pool::FileState::through));
}

TEST(DaemonServer, AnswersInOrderHoweverMuchIsAskedAtOnce) {
    World world;
    const OwnFd socket = world.connect();
    std::vector<QuestionKind> asked;
    std::size_t answered = 0;
    for (std::size_t i = 0; i < 3 * Session::replies_max; ++i) {
        const QuestionKind ask = i % 3 == 0   ? QuestionKind::drain
                                 : i % 3 == 1 ? QuestionKind::watch
                                              : QuestionKind::status;
        while (!check::send(socket, question(ask))) {
            const auto told = world.answer(socket);
            ASSERT_TRUE(told);
            EXPECT_EQ(told->reply.ask, asked.at(answered++));
        }
        asked.push_back(ask);
    }
    while (answered < asked.size()) {
        const auto told = world.answer(socket);
        ASSERT_TRUE(told);
        EXPECT_EQ(told->reply.error, 0);
        EXPECT_EQ(told->reply.ask, asked.at(answered++));
    }
}

TEST(DaemonServer, StopsAndTellsWhatWasThere) {
    World world;
    const OwnFd one = world.connect();
    const OwnFd other = world.connect();
    ASSERT_TRUE(check::send(one, question(QuestionKind::stop)));
    const auto told = world.ask(other, question(QuestionKind::stop));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->reply.error, 0);
    const auto first = world.answer(one);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->reply.error, 0);
    EXPECT_TRUE(world.server().ended());
    EXPECT_TRUE(world.server().rescued().empty());
    EXPECT_TRUE(std::filesystem::exists(world.options.socket + ".report"));
}

TEST(DaemonServer, LetsNoOtherUserIn) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs another user (run as root)";
    }
    World world;
    ASSERT_EQ(::chmod(world.folder.path("home").c_str(), 0755), 0);
    ASSERT_EQ(::chmod(world.options.socket.c_str(), 0777), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(test_seconds(100));
        constexpr uid_t nobody = 65534;
        if (::setresuid(nobody, nobody, nobody) != 0) {
            ::_exit(2);
        }
        const OwnFd socket = check::connect_to(world.options.socket);
        if (!socket.valid()) {
            ::_exit(3);
        }
        static_cast<void>(check::send(socket, question(QuestionKind::watch)));
        static_cast<void>(check::readable(socket, -1));
        ::_exit(check::take(socket) ? 1 : 0);
    }
    int status = -1;
    EXPECT_TRUE(world.turn_until([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    EXPECT_EQ(status, 0);
}

// Regression: libc's list of robust mutexes of a thread led into memory that was unmapped.
TEST(DaemonServer, ADaemonThatEndsLetsGoOfItsMutex) {
    for (int i = 0; i < 3; ++i) {
        const World world;
    }
    World world;
    const Greeted client{world};
    const auto& word = check::alive_word(client.directory());
    EXPECT_NE(word.load(), 0U);
    ASSERT_TRUE(world.ask(client.socket, question(QuestionKind::stop)));
    world.end();
    EXPECT_EQ(word.load(), 0U) << "nobody is to take it for dead";

    World other;
    const Greeted left{other};
    const auto& dead = check::alive_word(left.directory());
    other.end();
    EXPECT_NE(dead.load() & check::owner_died, 0U) << "it did not wait for anything";
}

// The kernel writes to the futex word of a robust mutex when its owner dies.
TEST(DaemonServer, ADaemonThatIsKilledIsSeenToBeDeadInWhatIsMapped) {
    const check::DaemonProcess daemon;
    const OwnFd socket = daemon.connect();
    ASSERT_TRUE(check::send(socket, question(QuestionKind::watch)));
    ASSERT_TRUE(check::readable(socket, 20000));
    const auto told = check::take(socket);
    ASSERT_TRUE(told && told->descriptors.size() == 1);
    const auto& word = check::alive_word(check::map_directory(told->descriptors[0]));
    EXPECT_EQ(word.load() & check::owner_died, 0U);
    EXPECT_EQ(word.load() & 0x3FFFFFFFU, static_cast<std::uint32_t>(daemon.process()));
    daemon.kill();
    daemon.await_death();
    EXPECT_EQ(word.load() & check::owner_died, check::owner_died);
}

}  // namespace
}  // namespace forebay::daemon
