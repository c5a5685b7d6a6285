// Messages are those of pool/protocol/messages.hpp, over a Unix-domain socket.
#include "pool/mount/link/pool_link.hpp"

#include "foundation/base/atomics.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <linux/futex.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;
constexpr timespec nap{.tv_sec = 0, .tv_nsec = 20'000'000};

Error refused(const std::string& socket, std::string_view why) {
    return {ErrorCode::input_output, errno,
            fmt::format("cannot reach the pool's daemon at {} ({}). See with `forebay pool status` "
                        "whether it lives.",
                        socket, why)};
}

std::byte* map_whole(const OwnFd& fd, std::size_t bytes, int protection) {
    void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

bool send_question(int socket, const protocol::ClientQuestion& question, int descriptor) {
    iovec bytes{const_cast<protocol::ClientQuestion*>(&question), sizeof question};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t moved = 0;
    do {
        moved = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (moved < 0 && errno == EINTR);
    return moved == static_cast<ssize_t>(sizeof question);
}

ssize_t receive(int socket, std::span<std::byte> to, std::vector<OwnFd>& descriptors) {
    iovec bytes{to.data(), to.size()};
    alignas(cmsghdr) std::array<char, 256> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t moved = 0;
    do {
        moved = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (moved < 0 && errno == EINTR);
    for (cmsghdr* header = moved < 0 ? nullptr : CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            descriptors.emplace_back(fd);
        }
    }
    return moved;
}

}  // namespace

Result<std::unique_ptr<PoolLink>> PoolLink::connect(const std::string& socket,
                                                    std::function<void()> before_waiting) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return failure(refused(socket, "its name is too long"));
    }
    std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
    OwnFd fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (!fd.valid() ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return failure(refused(socket, "nobody answers"));
    }
    ucred listener{};
    socklen_t bytes = sizeof listener;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &listener, &bytes) != 0 ||
        listener.uid != ::geteuid()) {
        errno = EACCES;
        return failure(refused(socket, "another user listens there"));
    }
    std::unique_ptr<PoolLink> link{new PoolLink{std::move(fd), std::move(before_waiting)}};
    if (auto met = link->greet(); !met) {
        return failure(std::move(met.error()));
    }
    return link;
}

Result<void> PoolLink::greet() {
    protocol::ClientQuestion hello;
    hello.ask = protocol::QuestionKind::hello;
    hello.number = ::getpid();
    hello.flags = protocol::last_try;
    auto greeting = exchange(hello, -1);
    if (!greeting || greeting->reply.error != 0 || greeting->descriptors.size() < 3) {
        errno = greeting ? greeting->reply.error : errno;
        return failure(refused("its socket", "it has no room for the mount"));
    }
    auto& files = greeting->descriptors;
    directory_ = reinterpret_cast<const pool::Directory*>(
        map_whole(files[0], sizeof(pool::Directory), PROT_READ));
    if (directory_ == nullptr ||
        directory_->header.format.load(std::memory_order_acquire) != pool::format) {
        return failure(refused("its socket", "it is of another version, or cannot be mapped"));
    }
    log_ = pool::Log{map_whole(files[1], pool::LogShape::bytes, PROT_READ | PROT_WRITE)};
    if (!log_.mapped()) {
        return failure(refused("its socket", "its log cannot be mapped"));
    }
    bell_ = std::move(files[2]);
    client_ = greeting->reply.client;
    clean_bytes_ = std::size_t{directory_->header.clean_blocks.load(relaxed)} * pool::block_bytes;
    if (clean_bytes_ > 0 && files.size() > 3) {
        clean_ = map_whole(files[3], clean_bytes_, PROT_READ);
    }
    log_writer_.emplace(*directory_, log_, client_, *this);
    reader_.emplace(
        *directory_, *this,
        pool::ReadAheadAccess{.hint_writer = &*log_writer_, .client = client_, .blocks = clean_});
    return {};
}

PoolLink::~PoolLink() {
    for (const OtherLog& other : others_) {
        if (other.base != nullptr) {
            ::munmap(other.base, pool::LogShape::bytes);
        }
    }
    if (clean_ != nullptr) {
        ::munmap(const_cast<std::byte*>(clean_), clean_bytes_);
    }
    if (log_.mapped()) {
        ::munmap(log_.base(), pool::LogShape::bytes);
    }
    if (directory_ != nullptr) {
        ::munmap(const_cast<pool::Directory*>(directory_), sizeof(pool::Directory));
    }
}

std::optional<PoolLink::Received> PoolLink::exchange(const protocol::ClientQuestion& question,
                                                     int descriptor) {
    Received received;
    std::array<std::byte, sizeof(protocol::DaemonReply)> bytes{};
    const ssize_t moved = send_question(socket_.get(), question, descriptor)
                              ? receive(socket_.get(), bytes, received.descriptors)
                              : -1;
    const auto reply =
        moved <= 0 ? std::nullopt
                   : protocol::reply_of(std::span{bytes}.first(static_cast<std::size_t>(moved)));
    if (!reply || reply->ask != question.ask) {
        errno = moved <= 0 ? ECONNRESET : EPROTO;
        return std::nullopt;
    }
    received.reply = *reply;
    return received;
}

std::optional<protocol::DaemonReply> PoolLink::ask(const protocol::ClientQuestion& question,
                                                   int descriptor) {
    before_waiting_();
    const std::scoped_lock turn{turn_};
    const auto received = exchange(question, descriptor);
    return received ? std::optional{received->reply} : std::nullopt;
}

PoolLink::Life PoolLink::life() const noexcept {
    const pool::DaemonEnd end = directory_->header.ended.load(std::memory_order_acquire);
    if (end != pool::DaemonEnd::not_yet) [[unlikely]] {
        return end == pool::DaemonEnd::well ? Life::ended : Life::dead;
    }
    // A robust mutex that the daemon holds: the kernel sets FUTEX_OWNER_DIED in its first word when
    // the daemon dies.
    const auto& word = reinterpret_cast<const pool::Word&>(directory_->header.alive);
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if ((seen & FUTEX_OWNER_DIED) != 0) {
        return Life::dead;
    }
    if (seen != 0) {
        return Life::lives;
    }
    return directory_->header.closing.load(relaxed) != 0 ? Life::ended : Life::dead;
}

pid_t PoolLink::process() const noexcept {
    return static_cast<pid_t>(directory_->header.process.load(relaxed));
}

std::int64_t PoolLink::now_ns() const noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * nanoseconds + now.tv_nsec;
}

void PoolLink::kick() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(bell_.get(), &one, sizeof one) == 0);
}

void PoolLink::wait(const pool::Word& word, std::uint32_t seen) noexcept {
    before_waiting_();
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &nap, nullptr, 0);
}

std::byte* PoolLink::mapped(std::uint32_t client) {
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    const std::scoped_lock lock{others_mutex_};
    OtherLog& other = others_[client];
    if (number == 0 || (other.base != nullptr && other.number == number)) {
        return number == 0 ? nullptr : other.base;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::log;
    question.number = client;
    before_waiting_();
    const std::scoped_lock turn{turn_};
    const auto received = exchange(question, -1);
    if (!received || received->reply.error != 0 || received->descriptors.empty()) {
        return nullptr;
    }
    // A log that was mapped before stays mapped: a thread may still copy from it.
    other = {number, map_whole(received->descriptors.front(), pool::LogShape::bytes, PROT_READ)};
    return other.base;
}

pool::Log PoolLink::log_of(std::uint32_t client) noexcept {
    return client == client_ ? log_ : pool::Log{mapped(client)};
}

bool PoolLink::sees(std::uint32_t client) noexcept {
    return client == client_ || directory_->clients[client].log.load(relaxed) == 0 ||
           mapped(client) != nullptr;
}

void PoolLink::prepare(std::byte* begin, std::size_t bytes) noexcept {
    // The daemon has allocated these pages, but they are not mapped here yet.
    ::madvise(begin, bytes, MADV_POPULATE_WRITE);
}

}  // namespace forebay::mount
