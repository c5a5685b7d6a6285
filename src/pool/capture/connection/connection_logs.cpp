// The logs of other clients: mapped to see what they have committed and to copy what they have
// deposited, and those that they lend.
#include "foundation/base/atomics.hpp"
#include "pool/capture/connection/connection_parts.hpp"

#include <cerrno>
#include <span>
#include <sys/random.h>
#include <utility>

namespace forebay::capture {

pool::Log Connection::log_of(std::uint32_t client) noexcept {
    if (client == client_) {
        return log_;
    }
    OtherLog& other = others_[client];
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    std::byte* const base = other.base.load(std::memory_order_acquire);
    // A client that has gone may have left deposits in its log. Looked at twice: number and base
    // belong together.
    if (base != nullptr && other.number.load(std::memory_order_acquire) == number &&
        other.base.load(relaxed) == base) {
        return pool::Log{base};
    }
    if (number == 0) {
        return {};
    }
    return mapped_or_drained(client);
}

bool Connection::sees(std::uint32_t client) noexcept {
    const OtherLog& other = others_[client];
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    const bool mapped = other.base.load(std::memory_order_acquire) != nullptr &&
                        other.number.load(std::memory_order_acquire) == number;
    if (client == client_ || number == 0 || mapped) {
        return true;
    }
    if (others_mapped_.load(relaxed) >= pool::logs_watched_max) {
        forget_logs_that_are_gone();
    }
    return others_mapped_.load(relaxed) < pool::logs_watched_max && map_log(client) != nullptr;
}

void Connection::forget_logs_that_are_gone() noexcept {
    const Turn turn{*this};
    for (std::size_t client = 0; client < others_.size(); ++client) {
        OtherLog& other = others_[client];
        std::byte* const base = other.base.load(relaxed);
        const pool::ClientSlot& slot = directory_->clients[client];
        if (base != nullptr && (slot.used.load(std::memory_order_acquire) == 0 ||
                                slot.log.load(relaxed) != other.number.load(relaxed))) {
            other.base.store(nullptr, std::memory_order_release);
            others_mapped_.fetch_sub(1, relaxed);
            retire(base);
        }
    }
}

// Maps the client's log. Where that fails, has the daemon drain everything: a process that cannot
// map a log cannot read deposits that lie in it.
pool::Log Connection::mapped_or_drained(std::uint32_t client) noexcept {
    if (std::byte* const mapped = map_log(client); mapped != nullptr) {
        return pool::Log{mapped};
    }
    if (directory_->clients[client].log.load(std::memory_order_acquire) != 0) {
        protocol::Question question;
        question.ask = protocol::Ask::drain;
        static_cast<void>(ask(question));
    }
    return {};
}

std::span<const std::byte> Connection::mapped_behind(const std::byte* at) const noexcept {
    std::span<const std::byte> first;
    const auto look = [&](const void* begin, std::size_t bytes) noexcept {
        const std::span one{static_cast<const std::byte*>(begin), bytes};
        const bool behind = begin != nullptr && one.data() + one.size() > at;
        if (behind && (first.empty() || one.data() < first.data())) {
            first = one;
        }
    };
    look(directory_, sizeof(pool::Directory));
    look(log_.mapped() ? log_.base() : nullptr, pool::LogShape::bytes);
    look(clean_, clean_bytes_);
    for (const OtherLog& other : others_) {
        look(other.base.load(relaxed), pool::LogShape::bytes);
    }
    for (const std::byte* const old : retired_) {
        look(old, pool::LogShape::bytes);
    }
    for (const LentLog& lent : lent_logs_) {
        look(lent.base, pool::LogShape::bytes);
    }
    return first;
}

std::byte* Connection::map_log(std::uint32_t client) noexcept {
    const int before = errno;
    protocol::Question question;
    question.ask = protocol::Ask::log;
    question.number = client;
    const Turn turn{*this};
    OtherLog& other = others_[client];
    const std::uint64_t number = directory_->clients[client].log.load(std::memory_order_acquire);
    std::byte* base = other.base.load(relaxed);
    if (base == nullptr || other.number.load(relaxed) != number) {
        const Received received = exchange(question, -1);
        std::byte* const fresh = received.came && received.reply.error == 0
                                     ? map_whole(received.descriptors[0], {pool::LogShape::bytes})
                                     : nullptr;
        for (const int fd : received.descriptors) {
            close_if_open(fd);
        }
        others_mapped_.fetch_add(fresh != nullptr ? 1 : 0, relaxed);
        if (base != nullptr) {
            others_mapped_.fetch_sub(1, relaxed);
            retire(base);
        }
        base = fresh;
        other.base.store(nullptr, relaxed);
        other.number.store(number, std::memory_order_release);
        other.base.store(base, std::memory_order_release);
    }
    errno = before;
    return base;
}

std::uint64_t Connection::lend_log() noexcept {
    if (own_name_.load(std::memory_order_acquire) != 0) {
        return own_name_.load(relaxed);
    }
    protocol::Question question;
    question.ask = protocol::Ask::lend;
    if (::getrandom(&question.group, sizeof question.group, 0) !=
        static_cast<ssize_t>(sizeof question.group)) {
        return 0;
    }
    question.group |= 1U;
    const auto reply = ask(question);
    // Another thread may have been first.
    if (reply && reply->error == 0) {
        own_name_.store(question.group, std::memory_order_release);
    }
    return own_name_.load(std::memory_order_acquire);
}

std::byte* Connection::reach_log(std::uint64_t name) noexcept {
    if (name == own_name_.load(std::memory_order_acquire)) {
        return name == 0 ? nullptr : log_.base();
    }
    const int before = errno;
    const Turn turn{*this};
    LentLog* room = nullptr;
    for (LentLog& one : lent_logs_) {
        if (one.name == name) {
            return one.base;
        }
        room = room == nullptr && one.name == 0 ? &one : room;
    }
    if (room != nullptr) {
        protocol::Question question;
        question.ask = protocol::Ask::borrow;
        question.group = name;
        const Received received = exchange(question, -1);
        std::byte* const base = received.came && received.reply.error == 0
                                    ? map_whole(received.descriptors[0],
                                                {pool::LogShape::bytes, PROT_READ | PROT_WRITE})
                                    : nullptr;
        for (const int fd : received.descriptors) {
            close_if_open(fd);
        }
        if (base != nullptr) {
            *room = {.name = name, .base = base};
        }
        errno = before;
        return base;
    }
    return nullptr;
}

// Somebody may still copy from it: it stays mapped until nobody but the caller reads.
void Connection::retire(std::byte* log) noexcept {
    for (std::byte*& old : retired_) {
        if (old != nullptr && readings_.load(std::memory_order_seq_cst) <= 1) {
            kernel::munmap(old, pool::LogShape::bytes);
            old = nullptr;
        }
        if (old == nullptr && log != nullptr) {
            old = std::exchange(log, nullptr);
        }
    }
}

}  // namespace forebay::capture
