// The connection of this process to the daemon of its node: a Unix-domain socket (SOCK_SEQPACKET)
// for questions, and shared memory (the client's log, the directory, read-cache blocks). It is made
// when the first file below a pool path is opened; a forked child makes one of its own.
#pragma once

#include "foundation/base/yielding.hpp"
#include "pool/capture/connection/lent_logs.hpp"
#include "pool/capture/connection/log_descriptor.hpp"
#include "pool/client/client_logs.hpp"
#include "pool/client/daemon.hpp"
#include "pool/client/daemon_life.hpp"
#include "pool/client/log_writer.hpp"
#include "pool/client/question_exchange.hpp"
#include "pool/client/reader.hpp"
#include "pool/protocol/messages.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sys/types.h>
#include <sys/un.h>

namespace forebay::capture {

inline constexpr std::int64_t nanoseconds = 1'000'000'000;  // per second

class DaemonConnection final : public pool::Daemon {
public:
    constexpr DaemonConnection() noexcept = default;
    DaemonConnection(const DaemonConnection&) = delete;
    DaemonConnection& operator=(const DaemonConnection&) = delete;
    ~DaemonConnection() = default;

    // Stores the path of the daemon's socket; nothing is connected yet. `daemon` is the text of the
    // environment about the process that listens there (see daemon_of() in trust.hpp), or null.
    // Returns false if `path` is too long for sun_path.
    [[nodiscard]] bool set_socket(const char* path, const char* daemon) noexcept;
    // Address of the daemon's socket.
    [[nodiscard]] const sockaddr_un& address() const noexcept { return address_; }
    // Connects `socket` to the daemon. Returns null, or a description of the problem with errno
    // set: EACCES if the directory of the socket or the process that listens there cannot be
    // trusted.
    [[nodiscard]] const char* connect_to_daemon(int socket) const noexcept;
    // Connects to the daemon and maps its memory, unless that was tried before. Returns false if
    // this process has no mapped connection; the attempt that fails reports why on standard error.
    [[nodiscard]] bool reach() noexcept;
    [[nodiscard]] bool reached() const noexcept {
        return state_.load(std::memory_order_acquire) == State::reached;
    }
    // Whether the daemon answers but its memory is not mapped in this process (address space
    // limit, valgrind, no descriptors). This process then only asks the daemon to keep the files
    // that it opens out of the pool.
    [[nodiscard]] bool is_unmapped() const noexcept {
        return state_.load(std::memory_order_acquire) == State::unmapped;
    }
    // Retries the mapping if is_unmapped() holds only because the daemon had run out of descriptors
    // (EMFILE). Returns true once the memory is mapped; files opened before then stay out of the
    // pool.
    [[nodiscard]] bool retry_mapping() noexcept;
    // Generation of the connection: it changes with each connection and each fork. An open file
    // stores it, to tell a file of this connection from one of an earlier connection or of the
    // parent process.
    [[nodiscard]] std::uint32_t generation() const noexcept {
        return generation_.load(std::memory_order_relaxed);
    }
    using Life = pool::DaemonLife;
    // State of the daemon that was reached last, by this process or by the parent that it was
    // forked from.
    [[nodiscard]] Life life() const noexcept;

    // Precondition of these three: reached().
    [[nodiscard]] const pool::Directory& directory() const noexcept { return *directory_; }
    [[nodiscard]] pool::LogWriter& log_writer() noexcept { return *log_writer_; }
    [[nodiscard]] pool::PoolReader& reader() noexcept { return *reader_; }

    // In a forked child that has reached no daemon, and will reach none: its parent's directory,
    // unless the parent had none. Null in other processes.
    [[nodiscard]] const pool::Directory* parents_directory() const noexcept {
        return state_.load(std::memory_order_acquire) == State::unreachable ? inherited_ : nullptr;
    }

    // Sends a question and waits for the reply; `descriptor`, unless it is -1, travels along
    // (SCM_RIGHTS). Precondition: reached() or is_unmapped(). Returns nullopt if no reply comes; if
    // the daemon has died, the first call reports that on standard error. Signals are blocked
    // meanwhile, because a signal handler may ask, too.
    [[nodiscard]] std::optional<protocol::DaemonReply> ask(const protocol::ClientQuestion& question,
                                                           int descriptor = -1) noexcept;
    // Reports the daemon's death on standard error, once in each process.
    void report_daemon_death() noexcept;

    // Whether `fd` is one of the connection's own descriptors, which the program did not open and
    // must not use.
    [[nodiscard]] bool owns(int fd) const noexcept {
        return fd >= 0 &&
               (fd == socket_.load(std::memory_order_relaxed) ||
                fd == bell_.load(std::memory_order_relaxed) || fd == log_descriptor_.fd());
    }
    // The connection's descriptors; -1 in place of one that it does not have.
    [[nodiscard]] std::array<int, 3> own() const noexcept {
        return {socket_.load(), bell_.load(), log_descriptor_.fd()};
    }
    // Called before the program makes `fd` a descriptor of its own (dup2, for example): moves the
    // connection's descriptor, if it has this number, to another number. Returns false if no number
    // is free: the connection would then write to the program's file.
    [[nodiscard]] bool move_from(int fd) noexcept;
    // Called after the program raised RLIMIT_NOFILE: moves the connection's descriptors above the
    // new limit. Only for a process with a single thread, since another thread could be about to
    // use the old numbers.
    void move_beyond_limit() noexcept;
    // Called before a fork of a process that has captured files: tells the daemon (LogHeader).
    void note_fork() noexcept {
        if (reached() && log_.mapped()) {
            log_.header().forked.store(1, std::memory_order_relaxed);
        }
    }
    // Called after the program has opened a file of the pool with O_PATH: tells the daemon
    // (LogHeader).
    void note_opened_path() noexcept {
        if (reached() && log_.mapped()) {
            log_.header().opened_paths.store(1, std::memory_order_seq_cst);
        }
    }
    // Called in a forked child, where this object describes the parent's connection: drops that
    // connection, so that the child makes its own. The parent's directory stays mapped until then,
    // because it says how the parent's daemon ends. With DescriptorSharing::shared (CLONE_FILES)
    // the descriptors stay open, since the parent still uses them.
    //
    // If the fork was made inside of a captured call, which the child returns into, all memory that
    // this call may use stays mapped, but for its log, in whose place it finds memory of its own.
    // Until the child has left the call, it is_unmapped() for others that its signal handler makes.
    enum class DescriptorSharing { copied, shared };
    void forget_parent(DescriptorSharing sharing) noexcept;
    // Drops what forget_parent() has kept. Precondition: this thread is in no call of its parent.
    void drop_parents_memory() noexcept;

    // Port pool::Daemon: kick() writes to an eventfd, and wait() is a futex wait of at most 10 ms.
    [[nodiscard]] bool alive() const noexcept override { return life() != Life::dead; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
    void kick() noexcept override;
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] pool::Log log_of(std::uint32_t client) noexcept override;
    [[nodiscard]] bool sees(std::uint32_t client) noexcept override;
    void prepare(std::byte* begin, std::size_t bytes) noexcept override;
    [[nodiscard]] bool fill(std::byte* to, std::span<const std::byte> bytes) noexcept override;

    // Lets other processes of the node write to this process' log. Returns the name by which they
    // reach it, or 0 if the log cannot be lent. Precondition: reached().
    [[nodiscard]] std::uint64_t lend_log() noexcept;
    // Memory of the log that is lent under `name`, mapped for writing. Returns null if there is
    // none, or if too many logs are mapped (LentLogs). Precondition: reached().
    [[nodiscard]] std::byte* reach_log(std::uint64_t name) noexcept;

    // The mapping of this connection with the lowest address among those that end above `at`; empty
    // if there is none.
    [[nodiscard]] std::span<const std::byte> first_mapping_ending_after(
        const std::byte* at) const noexcept;

    // RAII guard around a read: while it exists, the logs of other clients stay mapped.
    class Reading : pool::ClientLogs::Reading {
    public:
        explicit Reading(DaemonConnection& connection) noexcept
            : pool::ClientLogs::Reading{connection.client_logs_} {}
    };

private:
    // `none`: not tried yet; `unmapped`: see is_unmapped(); `unreachable` and `ended` are final.
    enum class State : std::uint32_t { none, reached, unmapped, unreachable, ended };

    // One attempt to reach the daemon; `tried` counts attempts from 1. False: try again after a
    // nap.
    [[nodiscard]] bool try_to_reach(int tried) noexcept;
    // Whether the daemon's memory may be mapped here.
    [[nodiscard]] bool may_map() const noexcept;
    // Maps the daemon's memory after its greeting, if that may be. Returns why it cannot be mapped
    // (errno is set), or null.
    [[nodiscard]] const char* map_greeted(pool::ReceivedReply& greeting) noexcept;
    struct FailedAttempt {
        const char* problem;
        const char* hint;
    };
    // Takes back a failed attempt, and says why it failed (errno). Returns the state that follows;
    // none: it is to be tried again.
    [[nodiscard]] State state_without(State found, const FailedAttempt& attempt,
                                      bool may_try_again) noexcept;
    // Reports that no daemon is there, once for each shell that keeps the pool's variables.
    void tell_that_it_was_stopped() const noexcept;
    // Connects and sends `hello`. Returns null, or the problem, with errno.
    [[nodiscard]] const char* connect_and_greet(pool::ReceivedReply& greeting,
                                                bool last_try) noexcept;
    // Maps the memory whose descriptors came with the greeting. Returns null, or the problem.
    [[nodiscard]] const char* map(pool::ReceivedReply& greeting) noexcept;
    // False in a child that was made without a call of forget(): this connection is its parent's.
    [[nodiscard]] bool is_ours() const noexcept;
    // Sets `mark_` to 1: the connection is this process'.
    void mark_memory() noexcept;
    // Closes the descriptors, but keeps the socket of a process that stays out.
    void disconnect(bool but_for_the_socket = false) noexcept;
    void unmap() noexcept;
    // Puts empty memory, which nobody shares, in place of the log.
    void blank_log() noexcept;
    // In a forked child: unmaps everything of the parent's but the directory.
    void forget_memory() noexcept;
    // Sends a question and receives its reply. Precondition: the caller holds QuestionLock.
    [[nodiscard]] pool::ReceivedReply exchange(const protocol::ClientQuestion& question,
                                               int descriptor) noexcept;
    [[nodiscard]] std::byte* fetch_log(const protocol::ClientQuestion& question,
                                       int protection) noexcept;
    // The connection as ClientLogs uses it.
    struct LogSource;

    sockaddr_un address_{};
    pid_t daemon_ = 0;  // process that has to listen at the socket; 0: any process of this user
    std::atomic<State> state_{State::none};
    std::atomic<std::uint32_t> generation_{0};  // see number()
    // Futex word of the lock around questions; see question_lock.hpp.
    std::atomic<std::uint32_t> question_lock_{0};
    std::atomic<int> socket_{-1};  // -1: not connected
    std::atomic<int> bell_{-1};    // eventfd that wakes the daemon
    LogDescriptor log_descriptor_;
    std::atomic<bool> told_{false};  // the daemon's death was reported
    // Stays_out() only for want of descriptors; protected by QuestionLock.
    bool lacked_descriptors_ = false;
    CoreYielding yielding_;  // whether polling pays while a reply is awaited
    pid_t process_ = 0;      // process that made the connection
    // Whether this memory belongs to the process that connected: 1 there, 0 in a child, since the
    // word lies on a page of its own with MADV_WIPEONFORK. Null if the kernel does not support
    // that.
    std::atomic<std::uint32_t>* mark_ = nullptr;
    std::uint32_t client_ = 0;  // index of ClientSlot in the directory
    const pool::Directory* directory_ = nullptr;
    const pool::Directory* inherited_ = nullptr;  // the parent's directory, in a forked child
    // The memory that is mapped is the parent's: a thread of this child returns into its calls.
    bool keeps_parents_ = false;
    pool::Log log_;
    const std::byte* clean_ = nullptr;  // read-cache blocks; null: nothing is read ahead
    std::size_t clean_bytes_ = 0;
    std::optional<pool::LogWriter> log_writer_;
    std::optional<pool::PoolReader> reader_;
    pool::ClientLogs client_logs_;
    LentLogs lent_logs_;
};

}  // namespace forebay::capture
