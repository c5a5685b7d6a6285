// Tests who may listen at a socket: only one living daemon, in a directory that belongs to its
// user.
#include "pool/daemon/listener/listener.hpp"

#include "pool/daemon/tests/server_check.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace forebay::daemon {
namespace {

using check::DescriptorLimit;
using check::Folder;
using testing::HasSubstr;

TEST(SocketListener, MakesItsFolderForTheUserAlone) {
    const Folder folder;
    const auto listener = SocketListener::open(folder.path("home/socket"));
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    struct stat found{};
    ASSERT_EQ(::stat(folder.path("home").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0700U);
}

TEST(SocketListener, IsRefusedWhileADaemonLives) {
    const Folder folder;
    const auto first = SocketListener::open(folder.path("home/socket"));
    ASSERT_TRUE(first.has_value());
    const auto second = SocketListener::open(folder.path("home/socket"));
    ASSERT_FALSE(second.has_value());
    EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
    EXPECT_TRUE(check::connect_to(folder.path("home/socket")).valid()) << "the first still listens";
}

TEST(SocketListener, ReplacesTheSocketOfADaemonThatWasKilled) {
    const Folder folder;
    const std::string path = folder.path("home/socket");
    const pid_t killed = ::fork();
    if (killed == 0) {
        const auto listener = SocketListener::open(path);
        ::_exit(listener ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(killed, &status, 0), killed);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(check::connect_to(path).valid());
    const auto listener = SocketListener::open(path);
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    EXPECT_TRUE(check::connect_to(path).valid());
}

TEST(SocketListener, TakesItsSocketAwayAtTheEnd) {
    const Folder folder;
    {
        ASSERT_TRUE(SocketListener::open(folder.path("home/socket")).has_value());
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path("home/socket")));
}

TEST(SocketListener, StandsInNoFolderThatOthersCanEnter) {
    const Folder folder;
    ASSERT_EQ(::mkdir(folder.path("open").c_str(), 0755), 0);
    const auto others = SocketListener::open(folder.path("open/socket"));
    ASSERT_FALSE(others.has_value());
    EXPECT_THAT(others.error().message, HasSubstr("0700"));
    ASSERT_EQ(::mkdir(folder.path("own").c_str(), 0700), 0);
    ASSERT_EQ(::symlink(folder.path("own").c_str(), folder.path("link").c_str()), 0);
    EXPECT_FALSE(SocketListener::open(folder.path("link/socket")).has_value());
    EXPECT_FALSE(SocketListener::open("socket").has_value());
    EXPECT_FALSE(SocketListener::open("/socket").has_value());
}

TEST(SocketListener, SaysThatANameIsTooLong) {
    const Folder folder;
    const auto listener = SocketListener::open(folder.path(std::string(100, 'x')) + "/socket");
    ASSERT_FALSE(listener.has_value());
    EXPECT_THAT(listener.error().message, HasSubstr("shorter"));
}

TEST(SocketListener, RejectsOneAfterTheOtherWhereNoDescriptorIsLeft) {
    const Folder folder;
    auto listener = SocketListener::open(folder.path("home/socket"));
    ASSERT_TRUE(listener.has_value());
    const std::vector<OwnFd> clients = [&] {
        std::vector<OwnFd> some;
        for (int i = 0; i < 3; ++i) {
            some.push_back(check::connect_to(folder.path("home/socket")));
        }
        return some;
    }();
    {
        const DescriptorLimit limit{DescriptorLimit::all_are_used()};
        for (std::size_t i = 0; i < clients.size(); ++i) {
            const IncomingConnection incoming = listener->next();
            EXPECT_TRUE(incoming.no_room);
            EXPECT_FALSE(incoming.stays_queued) << "connection " << i;
        }
    }
    for (const OwnFd& client : clients) {
        ASSERT_TRUE(check::readable(client)) << "a client that is rejected does not wait";
        EXPECT_FALSE(check::take(client));
    }
}

TEST(SocketListener, AcceptsLaterWhatItCouldNotEvenReject) {
    const Folder folder;
    auto listener = SocketListener::open(folder.path("home/socket"));
    ASSERT_TRUE(listener.has_value());
    const OwnFd client = check::connect_to(folder.path("home/socket"));
    {
        const DescriptorLimit limit{0};
        for (int i = 0; i < 2; ++i) {
            const IncomingConnection incoming = listener->next();
            EXPECT_FALSE(incoming.socket.valid());
            EXPECT_TRUE(incoming.no_room && incoming.stays_queued);
        }
    }
    EXPECT_TRUE(listener->next().socket.valid());
    EXPECT_FALSE(listener->next().stays_queued) << "nobody waits any more";
}

}  // namespace
}  // namespace forebay::daemon
