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

struct DaemonConnection::LogSource {
    DaemonConnection& connection;

    // Holds QuestionLock, and keeps errno.
    class Alone {
    public:
        explicit Alone(std::atomic<std::uint32_t>& turn) noexcept : lock_{turn} {}
        Alone(const Alone&) = delete;
        Alone& operator=(const Alone&) = delete;
        ~Alone() { errno = before_; }

    private:
        int before_ = errno;
        QuestionLock lock_;
    };
    [[nodiscard]] Alone alone() const noexcept { return Alone{connection.question_lock_}; }
    [[nodiscard]] std::byte* fetch(const protocol::ClientQuestion& question) const noexcept {
        return connection.fetch_log(question, PROT_READ);
    }
    void drain_all() const noexcept {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::drain;
        static_cast<void>(connection.ask(question));
    }
};

pool::Log DaemonConnection::log_of(std::uint32_t client) noexcept {
    return client == client_ ? log_ : client_logs_.log_of(*directory_, client, LogSource{*this});
}

bool DaemonConnection::sees(std::uint32_t client) noexcept {
    return client == client_ || client_logs_.sees(*directory_, client, LogSource{*this});
}

// Precondition: the caller holds QuestionLock. Returns null if the daemon does not give the log, or
// if it cannot be mapped.
std::byte* DaemonConnection::fetch_log(const protocol::ClientQuestion& question,
                                       int protection) noexcept {
    const pool::ReceivedReply received = exchange(question, -1);
    std::byte* const base =
        received.came && received.reply.error == 0
            ? pool::map_whole(received.descriptors[0], {pool::LogShape::bytes, protection})
            : nullptr;
    for (const int fd : received.descriptors) {
        pool::close_if_open(fd);
    }
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
