// A file of a mount: the mount makes it known, captured programs become clients of it, and nothing
// leaves for programs that are not captured.
#include "pool/daemon/tests/server_check.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::daemon {
namespace {

using check::question;
using check::World;
using protocol::QuestionKind;

protocol::ClientQuestion hello(std::uint32_t flags) {
    protocol::ClientQuestion asked = question(QuestionKind::hello, ::getpid());
    asked.flags = flags;
    return asked;
}

protocol::ClientQuestion about(const protocol::DaemonReply& file, QuestionKind ask,
                               std::uint32_t flags = 0) {
    protocol::ClientQuestion asked = question(ask);
    asked.slot = file.slot;
    asked.generation = file.generation;
    asked.flags = flags;
    return asked;
}

// A mount that has made one file known, and a captured program.
struct Mounted {
    explicit Mounted(World& world, std::uint32_t flags = protocol::for_writing)
        : mount{world.connect()}, program{world.connect()} {
        EXPECT_TRUE(world.ask(mount, hello(protocol::by_mount)));
        EXPECT_TRUE(world.ask(program, hello(0)));
        const std::string path = world.folder.path("file");
        const int access = flags == 0 ? O_RDONLY : O_RDWR;
        const auto opened = world.ask(mount, check::question_to_open(path, flags),
                                      check::one(check::open_file(path, access | O_CREAT)));
        EXPECT_TRUE(opened && opened->reply.error == 0);
        file = opened->reply;
    }
    OwnFd mount;
    OwnFd program;
    protocol::DaemonReply file;
};

int error_of(const std::optional<check::Told>& told) { return told ? told->reply.error : -1; }

std::uint64_t writers(World& world, const protocol::DaemonReply& file) {
    return world.server().directory().files[file.slot].writers[0].load();
}

TEST(Join, AClientWritesToAFileThatAnotherOneHasMadeKnown) {
    World world;
    const Mounted both{world};
    const std::uint64_t before = writers(world, both.file);
    const auto join = about(both.file, QuestionKind::join, protocol::for_writing);
    EXPECT_EQ(error_of(world.ask(both.program, join)), 0);
    EXPECT_NE(writers(world, both.file), before) << "readers look at its log";
    EXPECT_EQ(error_of(world.ask(both.program, about(both.file, QuestionKind::close))), 0);
    EXPECT_TRUE(world.turn_until([&] { return writers(world, both.file) == before; }));
}

TEST(Join, AFileThatHasLeftIsNotJoined) {
    World world;
    const Mounted both{world};
    auto leave = about(both.file, QuestionKind::leave);
    leave.number = static_cast<std::int64_t>(pool::ThroughReason::mapped);
    ASSERT_EQ(error_of(world.ask(both.mount, leave)), 0);
    const auto join = about(both.file, QuestionKind::join, protocol::for_writing);
    EXPECT_EQ(error_of(world.ask(both.program, join)), ESTALE);
}

TEST(Join, AFileThatTheDaemonMayNotWriteIsNotJoinedForWriting) {
    World world;
    const Mounted both{world, 0};
    const auto join = about(both.file, QuestionKind::join, protocol::for_writing);
    EXPECT_EQ(error_of(world.ask(both.program, join)), ESTALE);
    EXPECT_EQ(error_of(world.ask(both.program, about(both.file, QuestionKind::join))), 0);
}

TEST(Join, AnotherFileInTheSameSlotIsNotJoined) {
    World world;
    const Mounted both{world};
    auto join = about(both.file, QuestionKind::join);
    ++join.generation;
    EXPECT_EQ(error_of(world.ask(both.program, join)), ESTALE);
}

TEST(Join, WhoIsNoClientJoinsNothing) {
    World world;
    const Mounted both{world};
    const OwnFd other = world.connect();
    EXPECT_EQ(error_of(world.ask(other, about(both.file, QuestionKind::join))), ENOTCONN);
}

// A mount, a captured program that has joined its file, and the connection that stands for an
// uncaptured program, which was started meanwhile.
struct WithUncaptured {
    explicit WithUncaptured(World& world_) : world{world_} {
        const auto join = about(both.file, QuestionKind::join, protocol::for_writing);
        EXPECT_EQ(error_of(world.ask(both.program, join)), 0);
        EXPECT_EQ(error_of(world.ask(uncaptured, question(QuestionKind::uncaptured))), 0);
    }
    [[nodiscard]] pool::FileState state() const {
        return world.server().directory().files[both.file.slot].state.load();
    }
    World& world;
    Mounted both{world};
    OwnFd uncaptured{world.connect()};
};

TEST(Join, NothingLeavesForUncapturedProgramsWhileThereIsAMount) {
    World world;
    const WithUncaptured all{world};
    EXPECT_EQ(all.state(), pool::FileState::pooled);
}

TEST(Join, FilesLeaveForUncapturedProgramsWhenTheMountHasEnded) {
    World world;
    WithUncaptured all{world};
    all.both.mount = OwnFd{};  // the path is the plain folder again
    EXPECT_TRUE(world.turn_until([&] { return all.state() == pool::FileState::through; }));
    all.uncaptured = OwnFd{};
    EXPECT_TRUE(world.turn_until([&] { return all.state() == pool::FileState::pooled; }));
}

TEST(Join, FilesLeaveForUncapturedProgramsOnceOneIsWrittenPastTheMount) {
    World world;
    WithUncaptured all{world};
    const std::string path = world.folder.path("elsewhere");
    const auto opened =
        world.ask(all.both.program, check::question_to_open(path, protocol::for_writing),
                  check::one(check::open_file(path, O_RDWR | O_CREAT)));
    ASSERT_EQ(error_of(opened), 0);
    EXPECT_TRUE(world.turn_until([&] { return all.state() == pool::FileState::through; }));
    const auto& elsewhere = world.server().directory().files[opened->reply.slot];
    EXPECT_EQ(elsewhere.state.load(), pool::FileState::through);
    all.uncaptured = OwnFd{};
    EXPECT_TRUE(world.turn_until([&] { return all.state() == pool::FileState::pooled; }));
    all.uncaptured = world.connect();
    EXPECT_EQ(error_of(world.ask(all.uncaptured, question(QuestionKind::uncaptured))), 0);
    EXPECT_EQ(all.state(), pool::FileState::through) << "the mount does not serve all paths";
}

TEST(Join, FilesLeaveForUncapturedProgramsWhenOneOfTwoMountsHasEnded) {
    World world;
    WithUncaptured all{world};
    OwnFd other = world.connect();
    ASSERT_TRUE(world.ask(other, hello(protocol::by_mount)));
    ASSERT_EQ(all.state(), pool::FileState::pooled);
    other = OwnFd{};
    EXPECT_TRUE(world.turn_until([&] { return all.state() == pool::FileState::through; }));
}

TEST(Join, NothingLeavesBehindAMountIfTheUncapturedProgramHasEnded) {
    World world;
    WithUncaptured all{world};
    all.uncaptured = OwnFd{};
    world.server().run_once(check::milliseconds{1});
    all.both.mount = OwnFd{};
    for (int turns = 0; turns < 20; ++turns) {
        world.server().run_once(check::milliseconds{1});
    }
    EXPECT_EQ(all.state(), pool::FileState::pooled);
}

}  // namespace
}  // namespace forebay::daemon
