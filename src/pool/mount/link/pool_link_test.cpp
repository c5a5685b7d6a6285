// A PoolLink before a daemon that is played by a thread of the test.
#include "pool/mount/link/pool_link.hpp"

#include "pool/protocol/limits.hpp"
#include "pool/protocol/log.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <span>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace forebay::mount {
namespace {

using protocol::QuestionKind;
using testing::HasSubstr;

constexpr const char* others_log = "forebay-test-log-of-others";

OwnFd memory(const char* name, std::size_t bytes) {
    OwnFd fd{::memfd_create(name, MFD_CLOEXEC)};
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    return fd;
}

// How many times the log of others is mapped in this process.
std::size_t mappings() {
    std::ifstream maps{"/proc/self/maps"};
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        count += line.find(others_log) != std::string::npos ? 1 : 0;
    }
    return count;
}

class PlayedDaemon {
public:
    struct Sizes {
        std::size_t directory = sizeof(pool::Directory);
        std::size_t log = pool::LogShape::bytes;
    };
    explicit PlayedDaemon(const Sizes& sizes)
        : directory_fd_{memory("forebay-test-directory", sizes.directory)},
          log_{memory("forebay-test-log", sizes.log)},
          other_{memory(others_log, pool::LogShape::bytes)} {
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        void* const at = ::mmap(nullptr, sizeof(pool::Directory), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_NORESERVE, directory_fd_.get(), 0);
        EXPECT_NE(at, MAP_FAILED);
        directory_ = static_cast<pool::Directory*>(at);
        directory_->header.format.store(pool::format);
        reinterpret_cast<pool::Word&>(directory_->header.alive).store(1);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::strncpy(name.sun_path, socket().c_str(), sizeof name.sun_path - 1);
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
        thread_ = std::thread{[this] { serve(); }};
    }
    PlayedDaemon() : PlayedDaemon{Sizes{}} {}
    PlayedDaemon(const PlayedDaemon&) = delete;
    PlayedDaemon& operator=(const PlayedDaemon&) = delete;
    ~PlayedDaemon() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
        ::munmap(directory_, sizeof(pool::Directory));
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] const std::string& folder() const { return folder_; }
    [[nodiscard]] std::string socket() const { return folder_ + "/socket"; }
    [[nodiscard]] pool::Directory& directory() { return *directory_; }
    [[nodiscard]] auto connect() const {
        return PoolLink::connect(socket(), [] {});
    }

    std::atomic<bool> gives_logs = true;
    std::atomic<int> drains = 0;

private:
    void serve() {
        const OwnFd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        protocol::ClientQuestion question;
        while (::recv(client.get(), &question, sizeof question, 0) ==
               static_cast<ssize_t>(sizeof question)) {
            protocol::DaemonReply reply;
            reply.ask = question.ask;
            std::vector<int> descriptors;
            if (question.ask == QuestionKind::hello) {
                descriptors = {directory_fd_.get(), log_.get(), bell_.get()};
            } else if (question.ask == QuestionKind::log && gives_logs) {
                descriptors = {other_.get()};
            } else if (question.ask == QuestionKind::log) {
                reply.error = EMFILE;
            }
            drains += question.ask == QuestionKind::drain ? 1 : 0;
            send(client, reply, descriptors);
        }
    }
    static void send(const OwnFd& client, protocol::DaemonReply reply,
                     std::span<const int> descriptors) {
        iovec bytes{&reply, sizeof reply};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        if (!descriptors.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
            cmsghdr* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
            std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
        }
        EXPECT_EQ(::sendmsg(client.get(), &message, MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof reply));
    }

    std::string folder_ = "/tmp/forebay_link_XXXXXX";
    OwnFd directory_fd_;
    OwnFd log_;
    OwnFd other_;
    OwnFd bell_{::eventfd(0, EFD_CLOEXEC)};
    OwnFd listener_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    pool::Directory* directory_ = nullptr;
    std::thread thread_;
};

TEST(PoolLink, UnmapsLogsThatOthersHaveReplaced) {
    PlayedDaemon daemon;
    auto link = daemon.connect();
    ASSERT_TRUE(link) << link.error().message;
    constexpr std::uint64_t many = 100;
    for (std::uint64_t number = 1; number <= many; ++number) {
        daemon.directory().clients[1].log.store(number);
        const PoolLink::Reading reading{**link};
        EXPECT_TRUE((*link)->log_of(1).mapped());
    }
    EXPECT_LT(mappings(), 20U) << "each takes 16 GiB of address space";
    link->reset();
    EXPECT_EQ(mappings(), 0U);
}

TEST(PoolLink, HasTheDepositsDrainedOfALogThatItCannotMap) {
    PlayedDaemon daemon;
    daemon.gives_logs = false;
    auto link = daemon.connect();
    ASSERT_TRUE(link) << link.error().message;
    daemon.directory().clients[1].log.store(1);
    const PoolLink::Reading reading{**link};
    EXPECT_FALSE((*link)->log_of(1).mapped());
    EXPECT_EQ(daemon.drains, 1);
    EXPECT_FALSE((*link)->log_of(2).mapped()) << "it has none";
    EXPECT_EQ(daemon.drains, 1);
}

TEST(PoolLink, WatchesFewLogsAtATime) {
    PlayedDaemon daemon;
    auto link = daemon.connect();
    ASSERT_TRUE(link) << link.error().message;
    const auto set = [&](std::uint32_t client, std::uint64_t process) {
        daemon.directory().clients[client].used.store(process);
        daemon.directory().clients[client].log.store(client);
    };
    const PoolLink::Reading reading{**link};
    for (std::uint32_t client = 1; client <= pool::logs_watched_max; ++client) {
        set(client, 7);
        EXPECT_TRUE((*link)->sees(client));
    }
    constexpr std::uint32_t one_more = pool::logs_watched_max + 1;
    set(one_more, 7);
    EXPECT_FALSE((*link)->sees(one_more));
    EXPECT_EQ(mappings(), pool::logs_watched_max);
    set(1, 0);
    EXPECT_TRUE((*link)->sees(one_more)) << "another one has ended";
}

TEST(PoolLink, ConnectsToNoSocketWhereOthersCanPutOne) {
    const PlayedDaemon daemon;
    ASSERT_EQ(::chmod(daemon.folder().c_str(), 0755), 0);
    const auto link = daemon.connect();
    ASSERT_FALSE(link);
    EXPECT_THAT(link.error().message, HasSubstr("open to other users"));
}

// To touch a mapping behind the end of its file would end the mount by SIGBUS.
TEST(PoolLink, RefusesMemoryThatIsTooShort) {
    constexpr std::size_t page = 4096;
    for (const auto& sizes : {PlayedDaemon::Sizes{.directory = page},
                              PlayedDaemon::Sizes{.log = pool::LogShape::bytes - page}}) {
        const PlayedDaemon daemon{sizes};
        const auto link = daemon.connect();
        ASSERT_FALSE(link);
        EXPECT_THAT(link.error().message, HasSubstr("mapped"));
    }
}

}  // namespace
}  // namespace forebay::mount
