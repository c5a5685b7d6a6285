// For tests: a server in a directory of its own, and the clients' side of its socket. Everything
// runs in one thread: a caller that waits lets the server take turns.
#pragma once

#include "foundation/base/test_time.hpp"
#include "pool/daemon/listener/socket.hpp"
#include "pool/daemon/server.hpp"
#include "pool/protocol/log.hpp"
#include "pool/protocol/messages.hpp"
#include "storage/posix/clock.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace forebay::daemon::check {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Below /tmp, because a socket's name must be short; other users could reach it there.
class Folder {
public:
    Folder() {
        EXPECT_NE(::mkdtemp(name_.data()), nullptr);
        ::chmod(name_.c_str(), 0755);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(name_, ignored);
    }
    [[nodiscard]] std::string path(const std::string& name) const { return name_ + "/" + name; }
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    std::string name_ = "/tmp/forebay_server_XXXXXX";
};

struct Told {
    protocol::DaemonReply reply;
    std::vector<OwnFd> descriptors;
};

inline protocol::ClientQuestion question(protocol::QuestionKind ask, std::int64_t number = 0) {
    protocol::ClientQuestion question;
    question.ask = ask;
    question.number = number;
    return question;
}

inline OwnFd connect_to(const std::string& path) {
    OwnFd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
    const int got = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
    return got == 0 ? std::move(socket) : OwnFd{};
}

inline bool send(const OwnFd& socket, const protocol::ClientQuestion& question,
                 const std::vector<OwnFd>& descriptors = {}) {
    return deliver(socket.get(), std::as_bytes(std::span{&question, 1}), descriptors) ==
           SendResult::done;
}

// The next message; nullopt: the other side has closed the connection.
inline std::optional<Told> take(const OwnFd& socket) {
    ReceivedMessage received = receive(socket.get(), sizeof(protocol::DaemonReply));
    const auto reply = protocol::reply_of(received.bytes);
    if (received.arrival != ReceiveResult::message || !reply) {
        return std::nullopt;
    }
    return Told{*reply, std::move(received.descriptors)};
}

inline bool readable(const OwnFd& socket, int wait_ms = 0) {
    pollfd one{socket.get(), POLLIN, 0};
    return ::poll(&one, 1, wait_ms) > 0;
}

class World {
public:
    explicit World(DaemonOptions daemon = {}) {
        options.socket = folder.path("home/socket");
        options.rescue_folders = {folder.name()};
        options.daemon = std::move(daemon);
        auto made = DaemonServer::make(options, {clock_, calendar_});
        EXPECT_TRUE(made.has_value()) << made.error().message;
        server_ = std::move(*made);
    }

    // Lets the server take turns until `holds`. False: it never did.
    template <class Condition>
    [[nodiscard]] bool turn_until(const Condition& holds) {
        const std::int64_t deadline = clock_.now_ns() + 30'000'000'000;
        while (!holds()) {
            if (clock_.now_ns() > deadline) {
                return false;
            }
            server_->run_once(milliseconds{1});
        }
        return true;
    }

    [[nodiscard]] OwnFd connect() { return connect_to(options.socket); }
    // nullopt: the server closed the connection.
    [[nodiscard]] std::optional<Told> answer(const OwnFd& socket) {
        EXPECT_TRUE(turn_until([&] { return readable(socket); })) << "an answer comes";
        return take(socket);
    }
    [[nodiscard]] std::optional<Told> ask(const OwnFd& socket,
                                          const protocol::ClientQuestion& question,
                                          const std::vector<OwnFd>& descriptors = {}) {
        EXPECT_TRUE(send(socket, question, descriptors));
        return answer(socket);
    }
    [[nodiscard]] std::string status() {
        const OwnFd socket = connect();
        const auto told = ask(socket, question(protocol::QuestionKind::status));
        std::string text(static_cast<std::size_t>(told ? told->reply.number : 0), '\0');
        if (told) {
            EXPECT_EQ(::pread(told->descriptors.at(0).get(), text.data(), text.size(), 0),
                      static_cast<ssize_t>(text.size()));
        }
        return text;
    }

    [[nodiscard]] DaemonServer& server() { return *server_; }
    void end() { server_.reset(); }

    Folder folder;
    ServerOptions options;

private:
    adapters::SteadyClock clock_;
    adapters::CalendarClock calendar_;
    std::unique_ptr<DaemonServer> server_;
};

// Maps memory that the daemon shares.
inline void* map(const OwnFd& fd, std::size_t bytes, int protection) {
    void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    EXPECT_NE(at, MAP_FAILED);
    return at;
}

// The directory, which stays mapped.
inline const pool::Directory& map_directory(const OwnFd& fd) {
    return *static_cast<const pool::Directory*>(map(fd, sizeof(pool::Directory), PROT_READ));
}

// A client's log, which stays mapped.
inline pool::Log map_log(const OwnFd& fd) {
    return pool::Log{
        static_cast<std::byte*>(map(fd, pool::LogShape::bytes, PROT_READ | PROT_WRITE))};
}

// FUTEX_OWNER_DIED, which the kernel sets in the word of a robust mutex when its owner dies.
constexpr std::uint32_t owner_died = 0x40000000;

// The futex word by which clients see whether the daemon is alive.
inline const std::atomic<std::uint32_t>& alive_word(const pool::Directory& directory) {
    return *reinterpret_cast<const std::atomic<std::uint32_t>*>(&directory.header.alive);
}

// The memory that a client maps after it was admitted.
class Greeted {
public:
    explicit Greeted(World& world) : socket{world.connect()} {
        auto told = world.ask(socket, question(protocol::QuestionKind::hello, ::getpid()));
        if (!told || told->reply.error != 0 || told->descriptors.size() != 4) {
            ADD_FAILURE() << "not greeted: error " << (told ? told->reply.error : -1);
            return;
        }
        client = told->reply.client;
        directory_fd = std::move(told->descriptors[0]);
        log_fd = std::move(told->descriptors[1]);
        bell = std::move(told->descriptors[2]);
        clean_fd = std::move(told->descriptors[3]);
        directory_at_ = map(directory_fd, sizeof(pool::Directory), PROT_READ);
        log_at_ = map(log_fd, pool::LogShape::bytes, PROT_READ | PROT_WRITE);
    }
    Greeted(const Greeted&) = delete;
    Greeted& operator=(const Greeted&) = delete;
    ~Greeted() {
        unmap(directory_at_, sizeof(pool::Directory));
        unmap(log_at_, pool::LogShape::bytes);
    }

    [[nodiscard]] const pool::Directory& directory() const {
        return *static_cast<const pool::Directory*>(directory_at_);
    }
    [[nodiscard]] pool::Log log() const { return pool::Log{static_cast<std::byte*>(log_at_)}; }

    OwnFd socket;
    std::uint32_t client = 0;
    OwnFd directory_fd;
    OwnFd log_fd;
    OwnFd bell;
    OwnFd clean_fd;

private:
    static void unmap(void* at, std::size_t bytes) {
        if (at != nullptr && at != MAP_FAILED) {
            ::munmap(at, bytes);
        }
    }

    void* directory_at_ = nullptr;
    void* log_at_ = nullptr;
};

// A daemon in a process of its own, to be killed by the test. It ends itself after 100 s.
class DaemonProcess {
public:
    explicit DaemonProcess(const DaemonOptions& daemon = {}) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const OwnFd ready{ends[0]};
        OwnFd tells{ends[1]};
        process_ = ::fork();
        if (process_ == 0) {
            ::alarm(test_seconds(300));
            run(daemon, tells);
        }
        tells = OwnFd{};  // if the child dies before it answers, read() returns 0
        char answer = 'n';
        EXPECT_EQ(::read(ready.get(), &answer, 1), 1);
        EXPECT_EQ(answer, 'y') << "there is a server";
    }
    DaemonProcess(const DaemonProcess&) = delete;
    DaemonProcess& operator=(const DaemonProcess&) = delete;
    ~DaemonProcess() {
        kill();
        EXPECT_EQ(::waitpid(process_, nullptr, 0), process_);
    }
    [[nodiscard]] pid_t process() const noexcept { return process_; }
    [[nodiscard]] OwnFd connect() const { return connect_to(socket_); }
    // Returns at once; the process may die a moment later.
    void kill() const noexcept {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
        }
    }
    void await_death() const {
        siginfo_t ignored{};
        EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &ignored, WEXITED | WNOWAIT), 0);
    }

    Folder folder;

private:
    [[noreturn]] void run(const DaemonOptions& daemon, const OwnFd& tells) const {
        const adapters::SteadyClock clock;
        const auto server = DaemonServer::make(
            {.socket = socket_, .rescue_folders = {}, .host = {}, .daemon = daemon},
            {clock, clock});
        static_cast<void>(::write(tells.get(), server ? "y" : "n", 1));
        if (server) {
            (*server)->run();
        }
        ::_exit(0);
    }

    std::string socket_ = folder.path("home/socket");
    pid_t process_ = -1;
};

// Allows this process descriptors below `most` only, as long as it exists.
class DescriptorLimit {
public:
    explicit DescriptorLimit(rlim_t most) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const rlimit now{.rlim_cur = most, .rlim_max = before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
    }
    DescriptorLimit(const DescriptorLimit&) = delete;
    DescriptorLimit& operator=(const DescriptorLimit&) = delete;
    ~DescriptorLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
    // A limit that leaves no descriptor free, while those that are open keep their numbers.
    [[nodiscard]] static rlim_t all_are_used() {
        const OwnFd lowest_free{::dup(STDERR_FILENO)};
        return static_cast<rlim_t>(lowest_free.get());
    }

private:
    rlimit before_{};
};

inline std::vector<OwnFd> one(OwnFd fd) {
    std::vector<OwnFd> list;
    list.push_back(std::move(fd));
    return list;
}

inline OwnFd open_file(const std::string& path, int flags) {
    return OwnFd{::open(path.c_str(), flags | O_CLOEXEC, 0644)};
}

inline protocol::ClientQuestion question_to_open(const std::string& path, std::uint32_t flags) {
    protocol::ClientQuestion opening = question(protocol::QuestionKind::open);
    opening.flags = flags;
    path.copy(opening.path.data(), opening.path.size() - 1);
    return opening;
}

}  // namespace forebay::daemon::check
