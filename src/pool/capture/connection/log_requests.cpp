// The part of DaemonConnection that fetches logs from the daemon: those of other clients, to read
// them, and those that processes lend each other, to write to them.
#include "foundation/base/atomics.hpp"
#include "pool/capture/connection/connection.hpp"
#include "pool/capture/connection/question_lock.hpp"
#include "pool/client/shared_mapping.hpp"

#include <cerrno>
#include <span>
#include <sys/random.h>

namespace forebay::capture {

// A client that has ended may still have deposits in its log.
pool::Log DaemonConnection::log_of(std::uint32_t client) noexcept {
    if (client == client_) {
        return log_;
    }
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    if (std::byte* const base = client_logs_.find(client, number)) {
        return pool::Log{base};
    }
    return number == 0 ? pool::Log{} : mapped_or_drained(client);
}

bool DaemonConnection::sees(std::uint32_t client) noexcept {
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    if (client == client_ || number == 0 || client_logs_.find(client, number) != nullptr) {
        return true;
    }
    if (!client_logs_.has_room()) {
        const QuestionLock lock{question_lock_};
        client_logs_.drop_gone(*directory_);
    }
    return client_logs_.has_room() && map_log(client) != nullptr;
}

// Maps the client's log. If that fails, asks the daemon to drain everything, because a process that
// cannot map a log cannot read the deposits in it.
pool::Log DaemonConnection::mapped_or_drained(std::uint32_t client) noexcept {
    if (std::byte* const mapped = map_log(client); mapped != nullptr) {
        return pool::Log{mapped};
    }
    if (directory_->clients[client].log.load(std::memory_order_acquire) != 0) {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::drain;
        static_cast<void>(ask(question));
    }
    return {};
}

// Precondition: the caller holds QuestionLock. Returns null if the daemon does not give the log, or
// if it cannot be mapped.
std::byte* DaemonConnection::fetch_log(const protocol::ClientQuestion& question,
                                       int protection) noexcept {
    const Received received = exchange(question, -1);
    std::byte* const base =
        received.came && received.reply.error == 0
            ? pool::map_whole(received.descriptors[0], {pool::LogShape::bytes, protection})
            : nullptr;
    for (const int fd : received.descriptors) {
        pool::close_if_open(fd);
    }
    return base;
}

std::byte* DaemonConnection::map_log(std::uint32_t client) noexcept {
    const int before = errno;
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::log;
    question.number = client;
    const QuestionLock lock{question_lock_};
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    std::byte* base = client_logs_.find(client, number);
    if (base == nullptr) {
        base = fetch_log(question, PROT_READ);
        base = client_logs_.replace(client, number, base);
    }
    errno = before;
    return base;
}

std::uint64_t DaemonConnection::lend_log() noexcept {
    if (const std::uint64_t name = lent_logs_.own_name(); name != 0) {
        return name;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::lend;
    if (::getrandom(&question.group, sizeof question.group, 0) !=
        static_cast<ssize_t>(sizeof question.group)) {
        return 0;
    }
    question.group |= 1U;
    const auto reply = ask(question);
    // If another thread was first, its name is the one that is returned.
    if (reply && reply->error == 0) {
        lent_logs_.set_own_name(question.group);
    }
    return lent_logs_.own_name();
}

std::byte* DaemonConnection::reach_log(std::uint64_t name) noexcept {
    if (name == 0) {
        return nullptr;
    }
    if (name == lent_logs_.own_name()) {
        return log_.base();
    }
    const int before = errno;
    const QuestionLock lock{question_lock_};
    std::byte* base = lent_logs_.find(name);
    if (base == nullptr && lent_logs_.has_room()) {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::borrow;
        question.group = name;
        base = fetch_log(question, PROT_READ | PROT_WRITE);
        if (base != nullptr) {
            lent_logs_.add(name, base);
        }
    }
    errno = before;
    return base;
}

std::span<const std::byte> DaemonConnection::first_mapping_ending_after(
    const std::byte* at) const noexcept {
    std::span<const std::byte> first;
    const auto look = [&](const void* begin, std::size_t bytes) noexcept {
        const std::span one{static_cast<const std::byte*>(begin), bytes};
        const bool behind = begin != nullptr && one.data() + one.size() > at;
        if (behind && (first.empty() || one.data() < first.data())) {
            first = one;
        }
    };
    const auto look_at_log = [&](const std::byte* log) noexcept {
        look(log, pool::LogShape::bytes);
    };
    look(directory_, sizeof(pool::Directory));
    look_at_log(log_.mapped() ? log_.base() : nullptr);
    look(clean_, clean_bytes_);
    client_logs_.for_each(look_at_log);
    lent_logs_.for_each(look_at_log);
    return first;
}

}  // namespace forebay::capture
