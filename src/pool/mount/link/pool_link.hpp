// The mount's connection to the daemon of its node: the mount is a client of the pool, with one
// log.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/client/client_logs.hpp"
#include "pool/client/daemon.hpp"
#include "pool/client/daemon_life.hpp"
#include "pool/client/log_writer.hpp"
#include "pool/client/question_exchange.hpp"
#include "pool/client/reader.hpp"
#include "pool/protocol/messages.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace forebay::mount {

class PoolLink final : public pool::Daemon {
public:
    // Connects to the daemon's socket and maps its memory. Fails where the socket's directory is
    // open to others or the listener is another user's. `before_waiting` is called before a thread
    // sleeps until the daemon has done something.
    [[nodiscard]] static Result<std::unique_ptr<PoolLink>> connect(
        const std::string& socket, std::function<void()> before_waiting);
    PoolLink(const PoolLink&) = delete;
    PoolLink& operator=(const PoolLink&) = delete;
    ~PoolLink();

    using Life = pool::DaemonLife;
    [[nodiscard]] Life life() const noexcept { return pool::life_of(*directory_); }
    // The daemon's process number.
    [[nodiscard]] pid_t process() const noexcept;
    [[nodiscard]] const pool::Directory& directory() const noexcept { return *directory_; }
    [[nodiscard]] pool::LogWriter& log_writer() noexcept { return *log_writer_; }
    // Used only while a Reading exists.
    [[nodiscard]] pool::PoolReader& reader() noexcept { return *reader_; }

    // RAII guard around a read: while it exists, the logs of other clients stay mapped. One for
    // each thread at a time.
    class Reading : pool::ClientLogs::Reading {
    public:
        explicit Reading(PoolLink& link) noexcept : pool::ClientLogs::Reading{link.client_logs_} {}
    };

    // Asks the daemon, one question at a time. Returns nullopt if no reply comes.
    [[nodiscard]] std::optional<protocol::DaemonReply> ask(const protocol::ClientQuestion& question,
                                                           int descriptor = -1);

    [[nodiscard]] bool alive() const noexcept override { return life() != Life::dead; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
    void kick() noexcept override;
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] pool::Log log_of(std::uint32_t client) noexcept override;
    [[nodiscard]] bool sees(std::uint32_t client) noexcept override;
    void prepare(std::byte* begin, std::size_t bytes) noexcept override;

private:
    struct Received {
        protocol::DaemonReply reply;
        std::array<OwnFd, pool::ReceivedReply::descriptors_max> descriptors;
    };

    PoolLink(OwnFd socket, std::function<void()> before_waiting)
        : socket_{std::move(socket)}, before_waiting_{std::move(before_waiting)} {}
    // Sends `hello` and maps the memory whose descriptors come with the reply.
    [[nodiscard]] Result<void> greet();
    [[nodiscard]] std::optional<Received> exchange(const protocol::ClientQuestion& question,
                                                   int descriptor);
    // The connection as ClientLogs uses it.
    struct LogSource;

    OwnFd socket_;
    OwnFd bell_;  // eventfd that wakes the daemon
    std::function<void()> before_waiting_;
    std::mutex turn_;  // one question at a time
    std::uint32_t client_ = 0;
    const pool::Directory* directory_ = nullptr;
    pool::Log log_;
    const std::byte* clean_ = nullptr;  // read-cache blocks; null: nothing is read ahead
    std::size_t clean_bytes_ = 0;
    std::optional<pool::LogWriter> log_writer_;
    std::optional<pool::PoolReader> reader_;
    pool::ClientLogs client_logs_;  // changed by the thread that has `turn_`
};

}  // namespace forebay::mount
