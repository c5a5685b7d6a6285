// The process' connection to the daemon of its node: the socket, and the memory that both map.
// Made when it is first needed; a forked child makes its own.
#pragma once

#include "foundation/base/yielding.hpp"
#include "pool/capture/connection/client_logs.hpp"
#include "pool/capture/connection/lent_logs.hpp"
#include "pool/capture/connection/log_file.hpp"
#include "pool/client/daemon.hpp"
#include "pool/client/log_writer.hpp"
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

inline constexpr std::int64_t nanoseconds = 1'000'000'000;  // in a second

class DaemonConnection final : public pool::Daemon {
public:
    constexpr DaemonConnection() noexcept = default;
    DaemonConnection(const DaemonConnection&) = delete;
    DaemonConnection& operator=(const DaemonConnection&) = delete;
    ~DaemonConnection() = default;

    // `daemon`: the environment's text about the process that listens there (daemon_of); may be
    // null. False: the name of the socket is too long.
    [[nodiscard]] bool set_socket(const char* path, const char* daemon) noexcept;
    // The daemon's socket.
    [[nodiscard]] const sockaddr_un& address() const noexcept { return address_; }
    // Connects this socket to the daemon. Null, or what went wrong, with errno: EACCES where
    // somebody else listens there.
    [[nodiscard]] const char* connect_to_daemon(int socket) const noexcept;
    // Connects where that was not done yet. False: the daemon cannot be reached; a message says so
    // once.
    [[nodiscard]] bool reach() noexcept;
    [[nodiscard]] bool reached() const noexcept {
        return state_.load(std::memory_order_acquire) == State::reached;
    }
    // The daemon answers, but its memory cannot be mapped here: it is asked to keep the files that
    // this process opens out of the pool.
    [[nodiscard]] bool stays_out() const noexcept {
        return state_.load(std::memory_order_acquire) == State::out;
    }
    // Asks once more where it stays out only because the daemon had no descriptors. True: it has
    // been reached; what was opened before stays out of the pool.
    [[nodiscard]] bool comes_in() noexcept;
    // Another one for each connection of this process and of those that it was forked from.
    [[nodiscard]] std::uint32_t number() const noexcept {
        return number_.load(std::memory_order_relaxed);
    }
    enum class Life {
        lives,
        ended,  // everything was drained before: files are libc's business
        dead,
    };
    // The state of the daemon that was reached last, by this process or the one that it was forked
    // from.
    [[nodiscard]] Life life() const noexcept;

    // All of these where it was reached.
    [[nodiscard]] const pool::Directory& directory() const noexcept { return *directory_; }
    [[nodiscard]] pool::LogWriter& log_writer() noexcept { return *log_writer_; }
    [[nodiscard]] pool::PoolReader& reader() noexcept { return *reader_; }

    // Where it was reached, or stays out. nullopt: the daemon is not there any more; a message says
    // so once if it is dead. Blocks signals: a handler may ask, too. `descriptor` travels with the
    // question.
    [[nodiscard]] std::optional<protocol::DaemonReply> ask(const protocol::ClientQuestion& question,
                                                           int descriptor = -1) noexcept;
    // Tells once that the daemon is dead.
    void report_daemon_death() noexcept;

    // Whether the descriptor is the connection's own, which a program never has the use of.
    [[nodiscard]] bool owns(int fd) const noexcept {
        return fd >= 0 && (fd == socket_.load(std::memory_order_relaxed) ||
                           fd == bell_.load(std::memory_order_relaxed) || fd == log_file_.number());
    }
    [[nodiscard]] std::array<int, 3> own() const noexcept {
        return {socket_.load(), bell_.load(), log_file_.number()};
    }
    // The program wants this number for something else.
    void move_from(int fd) noexcept;
    // The program may have more descriptors than before: ours are not to be among them. For a
    // process without threads: another one could be about to use the old numbers.
    void move_beyond_limit() noexcept;
    // In a forked child: what is here is the parent's. The directory stays mapped until the child
    // has one of its own: it says how the parent's daemon ends. Where the table of descriptors is
    // shared, the parent still uses those of its connection: they stay open.
    enum class Table { own, shared };
    void forget(Table table) noexcept;

    [[nodiscard]] bool alive() const noexcept override { return life() != Life::dead; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
    void kick() noexcept override;
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] pool::Log log_of(std::uint32_t client) noexcept override;
    [[nodiscard]] bool sees(std::uint32_t client) noexcept override;
    void prepare(std::byte* begin, std::size_t bytes) noexcept override;
    [[nodiscard]] bool fill(std::byte* to, std::span<const std::byte> bytes) noexcept override;

    // Where it was reached: lets others write to the own log, by a name; 0: that cannot be done.
    [[nodiscard]] std::uint64_t lend_log() noexcept;
    // The log that is lent by this name, to be written to; null: there is none, or too many are
    // mapped.
    [[nodiscard]] std::byte* reach_log(std::uint64_t name) noexcept;

    // Memory that is mapped for the connection: the part that lies first behind `at`. Empty: there
    // is none.
    [[nodiscard]] std::span<const std::byte> mapped_behind(const std::byte* at) const noexcept;

    // While it lives, reads are under way: logs of others stay mapped.
    class Reading : ClientLogs::Reading {
    public:
        explicit Reading(DaemonConnection& connection) noexcept
            : ClientLogs::Reading{connection.client_logs_} {}
    };

private:
    enum class State : std::uint32_t { none, reached, out, unreachable, ended };

    // Descriptors that came with a reply; all are closed, but one that was taken out.
    struct Received {
        static constexpr std::size_t most = 4;
        protocol::DaemonReply reply;
        std::array<int, most> descriptors{-1, -1, -1, -1};
        bool came = false;
    };

    [[nodiscard]] static Life life_of(const pool::Directory& directory) noexcept;
    [[nodiscard]] bool settled_with(int tried) noexcept;
    void tell_that_it_was_stopped() const noexcept;
    [[nodiscard]] const char* connect_and_greet(Received& greeting, bool last_try) noexcept;
    [[nodiscard]] const char* map(Received& greeting) noexcept;
    // False in a child of which forget() was not told: what is here belongs to its parent.
    [[nodiscard]] bool is_ours() const noexcept;
    void mark_memory() noexcept;
    void disconnect(bool but_for_the_socket = false) noexcept;
    void unmap() noexcept;
    [[nodiscard]] Received exchange(const protocol::ClientQuestion& question,
                                    int descriptor) noexcept;
    [[nodiscard]] std::byte* fetch_log(const protocol::ClientQuestion& question,
                                       int protection) noexcept;
    [[nodiscard]] std::byte* map_log(std::uint32_t client) noexcept;
    [[nodiscard]] pool::Log mapped_or_drained(std::uint32_t client) noexcept;

    sockaddr_un address_{};
    pid_t daemon_ = 0;  // the process that has to listen there; 0: any of this user
    std::atomic<State> state_{State::none};
    std::atomic<std::uint32_t> number_{0};
    std::atomic<std::uint32_t> turn_{0};  // exchange_turn.hpp
    std::atomic<int> socket_{-1};
    std::atomic<int> bell_{-1};
    LogFile log_file_;
    std::atomic<bool> told_{false};
    bool may_come_in_ = false;  // under ExchangeTurn
    CoreYielding yielding_;
    pid_t process_ = 0;
    // On a page of its own, which the kernel gives to no child as it is: 0 there. Null: the kernel
    // does not know how.
    std::atomic<std::uint32_t>* mark_ = nullptr;
    std::uint32_t client_ = 0;
    const pool::Directory* directory_ = nullptr;
    const pool::Directory* inherited_ = nullptr;
    pool::Log log_;
    const std::byte* clean_ = nullptr;  // null: nothing is read ahead
    std::size_t clean_bytes_ = 0;
    std::optional<pool::LogWriter> log_writer_;
    std::optional<pool::PoolReader> reader_;
    ClientLogs client_logs_;
    LentLogs lent_logs_;
};

}  // namespace forebay::capture
