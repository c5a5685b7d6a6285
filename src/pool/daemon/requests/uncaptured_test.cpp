// Uncaptured programs: all files leave the pool before one starts, and return when all have ended.
#include "pool/daemon/tests/server_check.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::daemon {
namespace {

using check::question;
using check::World;

protocol::ClientQuestion about(const std::string& program, std::int64_t process = 0) {
    protocol::ClientQuestion asked = question(protocol::QuestionKind::uncaptured, process);
    asked.inode = static_cast<std::uint64_t>(::getpid());
    program.copy(asked.path.data(), asked.path.size() - 1);
    return asked;
}

// A client with one file.
struct Client {
    explicit Client(World& world) : socket{world.connect()} {
        EXPECT_TRUE(world.ask(socket, question(protocol::QuestionKind::hello, ::getpid())));
        const std::string path = world.folder.path("file");
        const auto opened = world.ask(socket, check::question_to_open(path, protocol::for_writing),
                                      check::one(check::open_file(path, O_RDWR | O_CREAT)));
        EXPECT_TRUE(opened);
        slot = opened->reply.slot;
    }
    OwnFd socket;
    std::uint32_t slot = 0;
};

pool::FileState state_of(World& world, const Client& client) {
    return world.server().directory().files[client.slot].state.load();
}

bool comes_back(World& world, const Client& client) {
    return world.turn_until([&] { return state_of(world, client) == pool::FileState::pooled; });
}

void expect_out(World& world, const Client& client) {
    for (int turns = 0; turns < 20; ++turns) {
        world.server().run_once(check::milliseconds{1});
    }
    EXPECT_EQ(state_of(world, client), pool::FileState::through);
    EXPECT_EQ(world.server().directory().files[client.slot].reason.load(),
              pool::ThroughReason::uncaptured);
}

TEST(Uncaptured, FilesAreOutAsLongAsSomebodyHasTheConnection) {
    World world;
    const Client client{world};
    EXPECT_EQ(state_of(world, client), pool::FileState::pooled);
    OwnFd program = world.connect();
    const auto told = world.ask(program, about("/bin/x (it is statically linked)"));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->reply.error, 0);
    EXPECT_EQ(state_of(world, client), pool::FileState::through) << "before it is answered";
    OwnFd of_its_child{::dup(program.get())};
    program = OwnFd{};
    expect_out(world, client);
    of_its_child = OwnFd{};
    EXPECT_TRUE(comes_back(world, client));
}

TEST(Uncaptured, FilesAreOutAsLongAsTheProcessLives) {
    World world;
    const Client client{world};
    const pid_t process = ::fork();
    if (process == 0) {
        ::pause();
        ::_exit(0);
    }
    OwnFd program = world.connect();
    ASSERT_TRUE(world.ask(program, about("x", process)));
    program = OwnFd{};  // the program has closed the inherited connection
    expect_out(world, client);
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    EXPECT_TRUE(comes_back(world, client));
}

TEST(Uncaptured, FilesComeBackBehindTheLastOfSeveral) {
    World world;
    const Client client{world};
    OwnFd first = world.connect();
    OwnFd second = world.connect();
    ASSERT_TRUE(world.ask(first, about("a")));
    ASSERT_TRUE(world.ask(second, about("b")));
    first = OwnFd{};
    expect_out(world, client);
    second = OwnFd{};
    EXPECT_TRUE(comes_back(world, client));
}

TEST(Uncaptured, WhatWasNotStartedIsNotWaitedFor) {
    World world;
    const Client client{world};
    OwnFd program = world.connect();
    protocol::ClientQuestion itself = about("x");
    itself.flags = protocol::itself;  // the process is this one, which does not end
    ASSERT_TRUE(world.ask(program, itself));
    itself.flags = protocol::not_started;
    ASSERT_TRUE(world.ask(program, itself));
    program = OwnFd{};
    EXPECT_TRUE(comes_back(world, client));
}

TEST(Uncaptured, AFileThatIsOpenedMeanwhileIsOutUntilThen) {
    World world;
    OwnFd program = world.connect();
    ASSERT_TRUE(world.ask(program, about("x")));
    const Client client{world};
    expect_out(world, client);
    program = OwnFd{};
    EXPECT_TRUE(comes_back(world, client));
}

TEST(Uncaptured, WhatElseKeepsAFileOutStays) {
    World world;
    const Client client{world};
    OwnFd program = world.connect();
    ASSERT_TRUE(world.ask(program, about("x")));
    protocol::ClientQuestion leave = question(
        protocol::QuestionKind::leave, static_cast<std::int64_t>(pool::ThroughReason::mapped));
    leave.slot = client.slot;
    leave.generation = world.server().directory().files[client.slot].generation.load();
    ASSERT_TRUE(world.ask(client.socket, leave));
    program = OwnFd{};
    for (int turns = 0; turns < 20; ++turns) {
        world.server().run_once(check::milliseconds{1});
    }
    EXPECT_EQ(state_of(world, client), pool::FileState::through);
    EXPECT_EQ(world.server().directory().files[client.slot].reason.load(),
              pool::ThroughReason::mapped);
}

TEST(Uncaptured, WhoIsNotConnectedSeesWhichInodesTheDaemonMayKnow) {
    World world;
    const Client client{world};
    const std::string link = world.options.socket + pool::KnownInodes::suffix;
    const OwnFd fd{::open(link.c_str(), O_RDONLY | O_CLOEXEC)};
    ASSERT_TRUE(fd.valid());
    const OwnFd writes{::open(link.c_str(), O_RDWR | O_CLOEXEC)};
    EXPECT_LT(::pwrite(writes.get(), "x", 1, 0), 0) << "nobody else writes";
    void* const at = ::mmap(nullptr, sizeof(pool::KnownInodes), PROT_READ, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(at, MAP_FAILED);
    const auto& inodes = *static_cast<const pool::KnownInodes*>(at);
    const pool::FileSlot& file = world.server().directory().files[client.slot];
    EXPECT_EQ(inodes.format.load(), pool::format);
    EXPECT_TRUE(inodes.may_have(file.device.load(), file.inode.load()));
    EXPECT_FALSE(inodes.may_have(file.device.load(), file.inode.load() + 1));
    protocol::ClientQuestion close = question(protocol::QuestionKind::close);
    close.slot = client.slot;
    close.generation = file.generation.load();
    ASSERT_TRUE(world.ask(client.socket, close));
    EXPECT_TRUE(
        world.turn_until([&] { return !inodes.may_have(file.device.load(), file.inode.load()); }));
    ::munmap(at, sizeof(pool::KnownInodes));
}

}  // namespace
}  // namespace forebay::daemon
