// Messages are those of pool/protocol/messages.hpp, over a Unix-domain socket.
#include "pool/mount/link/pool_link.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/times.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/client/question_exchange.hpp"
#include "pool/client/shared_mapping.hpp"
#include "pool/client/trust.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <linux/futex.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

constexpr timespec nap{.tv_sec = 0, .tv_nsec = 20'000'000};

Error refused(const std::string& socket, std::string_view why) {
    return {ErrorCode::input_output, errno,
            fmt::format("cannot reach the pool's daemon at {} ({}). See with `forebay pool status` "
                        "whether it lives.",
                        socket, why)};
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
    if (!greeting || greeting->reply.error != 0 || !greeting->descriptors[2].valid()) {
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
    if (clean_bytes_ > 0) {
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
    const pool::ReceivedReply got =
        pool::exchange(socket_.get(), question, descriptor, /*yielding=*/nullptr);
    Received received{.reply = got.reply, .descriptors = {}};
    for (std::size_t i = 0; i < got.descriptors.size(); ++i) {
        received.descriptors[i] = OwnFd{got.descriptors[i]};
    }
    return got.came ? std::optional{std::move(received)} : std::nullopt;
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

std::int64_t PoolLink::now_ns() const noexcept { return time_ns_of(CLOCK_MONOTONIC); }

void PoolLink::kick() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(bell_.get(), &one, sizeof one) == 0);
}

void PoolLink::wait(const pool::Word& word, std::uint32_t seen) noexcept {
    before_waiting_();
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &nap, nullptr, 0);
}

struct PoolLink::LogSource {
    PoolLink& link;

    [[nodiscard]] std::unique_lock<std::mutex> alone() const {
        link.before_waiting_();
        return std::unique_lock{link.turn_};
    }
    [[nodiscard]] std::byte* fetch(const protocol::ClientQuestion& question) const {
        const auto received = link.exchange(question, -1);
        return received && received->reply.error == 0
                   ? pool::map_whole(received->descriptors[0].get(), {pool::LogShape::bytes})
                   : nullptr;
    }
    void drain_all() const {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::drain;
        static_cast<void>(link.ask(question));
    }
};

pool::Log PoolLink::log_of(std::uint32_t client) noexcept {
    return client == client_ ? log_ : client_logs_.log_of(*directory_, client, LogSource{*this});
}

bool PoolLink::sees(std::uint32_t client) noexcept {
    return client == client_ || client_logs_.sees(*directory_, client, LogSource{*this});
}

void PoolLink::prepare(std::byte* begin, std::size_t bytes) noexcept {
    // The daemon has allocated these pages, but they are not mapped here yet.
    ::madvise(begin, bytes, kernel::populate_write);
}

}  // namespace forebay::mount
