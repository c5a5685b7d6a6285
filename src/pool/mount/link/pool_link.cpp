// Messages are those of pool/protocol/messages.hpp, over a Unix-domain socket.
#include "pool/mount/link/pool_link.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/client/send_question.hpp"
#include "pool/client/shared_mapping.hpp"
#include "pool/client/trust.hpp"

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
    // The mount sends descriptors of files to who listens there.
    if (const char* const problem = pool::folder_problem(socket.c_str())) {
        errno = EACCES;
        return failure(refused(socket, problem));
    }
    OwnFd fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (!fd.valid() ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return failure(refused(socket, "nobody answers"));
    }
    if (const char* const problem = pool::listener_problem(fd.get(), 0)) {
        errno = EACCES;
        return failure(refused(socket, problem));
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
    hello.group = static_cast<std::uint64_t>(now_ns());
    hello.flags = protocol::last_try | protocol::by_mount;
    auto greeting = exchange(hello, -1);
    if (!greeting || greeting->reply.error != 0 || greeting->descriptors.size() < 3) {
        errno = greeting ? greeting->reply.error : errno;
        return failure(refused("its socket", "it has no room for the mount"));
    }
    auto& files = greeting->descriptors;
    directory_ = reinterpret_cast<const pool::Directory*>(
        pool::map_whole(files[0].get(), {sizeof(pool::Directory)}));
    if (directory_ == nullptr ||
        directory_->header.format.load(std::memory_order_acquire) != pool::format) {
        return failure(refused("its socket", "it is of another version, or cannot be mapped"));
    }
    log_ =
        pool::Log{pool::map_whole(files[1].get(), {pool::LogShape::bytes, PROT_READ | PROT_WRITE})};
    if (!log_.mapped()) {
        return failure(refused("its socket", "its log cannot be mapped"));
    }
    bell_ = std::move(files[2]);
    client_ = greeting->reply.client;
    clean_bytes_ = std::size_t{directory_->header.clean_blocks.load(relaxed)} * pool::block_bytes;
    if (clean_bytes_ > 0 && files.size() > 3) {
        clean_ = pool::map_whole(files[3].get(), {clean_bytes_});
    }
    log_writer_.emplace(*directory_, log_, client_, *this);
    reader_.emplace(
        *directory_, *this,
        pool::ReadAheadAccess{.hint_writer = &*log_writer_, .client = client_, .blocks = clean_});
    return {};
}

PoolLink::~PoolLink() {
    client_logs_.forget();
    pool::unmapped(clean_, clean_bytes_);
    pool::unmapped(log_.mapped() ? log_.base() : nullptr, pool::LogShape::bytes);
    pool::unmapped(directory_, sizeof(pool::Directory));
}

std::optional<PoolLink::Received> PoolLink::exchange(const protocol::ClientQuestion& question,
                                                     int descriptor) {
    Received received;
    std::array<std::byte, sizeof(protocol::DaemonReply)> bytes{};
    const ssize_t moved = pool::send_question(socket_.get(), question, descriptor)
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

std::byte* PoolLink::map_log(std::uint32_t client) {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::log;
    question.number = client;
    before_waiting_();
    const std::scoped_lock turn{turn_};
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    if (std::byte* const base = client_logs_.find(client, number)) {
        return base;
    }
    const auto received = exchange(question, -1);
    const bool came = received && received->reply.error == 0 && !received->descriptors.empty();
    std::byte* const fresh =
        came ? pool::map_whole(received->descriptors.front().get(), {pool::LogShape::bytes})
             : nullptr;
    return client_logs_.replace(client, number, fresh);
}

// A client that has ended may still have deposits in its log. If the log cannot be mapped, the
// daemon is asked to drain everything, because the deposits in it cannot be read.
pool::Log PoolLink::log_of(std::uint32_t client) noexcept {
    if (client == client_) {
        return log_;
    }
    const std::atomic<std::uint64_t>& log = directory_->clients[client].log;
    const std::uint64_t number = log.load(std::memory_order_acquire);
    std::byte* base = client_logs_.find(client, number);
    if (base == nullptr && number != 0) {
        base = map_log(client);
    }
    if (base == nullptr && log.load(std::memory_order_acquire) != 0) {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::drain;
        static_cast<void>(ask(question));
    }
    return pool::Log{base};
}

bool PoolLink::sees(std::uint32_t client) noexcept {
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    if (client == client_ || number == 0 || client_logs_.find(client, number) != nullptr) {
        return true;
    }
    if (!client_logs_.has_room()) {
        before_waiting_();
        const std::scoped_lock turn{turn_};
        client_logs_.drop_gone(*directory_);
    }
    return client_logs_.has_room() && map_log(client) != nullptr;
}

void PoolLink::prepare(std::byte* begin, std::size_t bytes) noexcept {
    // The daemon has allocated these pages, but they are not mapped here yet.
    ::madvise(begin, bytes, kernel::populate_write);
}

}  // namespace forebay::mount
