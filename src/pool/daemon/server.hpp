// The daemon's loop: connections, their questions, and the rounds of the pool between them.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/yielding.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/cluster/transport/peers.hpp"
#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/listener/listener.hpp"
#include "pool/daemon/memory/inodes_file.hpp"
#include "pool/daemon/requests/dispatcher.hpp"
#include "pool/daemon/session.hpp"
#include "pool/daemon/shutdown/shutdown.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::daemon {

struct ServerOptions {
    std::string socket;                       // an absolute path
    std::vector<std::string> rescue_folders;  // that are tried in this order
    std::string host;                         // by which other nodes reach this one; empty: ask
    DaemonOptions daemon;
};

class DaemonServer {
public:
    // Also of processes that only ask.
    static constexpr std::size_t sessions_max = 8 * pool::clients_max;

    // The clocks outlive it.
    // `peers`, where there are other daemons, have joined; they outlive it, too.
    [[nodiscard]] static Result<std::unique_ptr<DaemonServer>> make(
        const ServerOptions& options, const DaemonClocks& clocks,
        cluster::PeerConnections* peers = nullptr);
    DaemonServer(const DaemonServer&) = delete;
    DaemonServer& operator=(const DaemonServer&) = delete;
    ~DaemonServer();

    // Hears of signals by this descriptor (signalfd): SIGUSR1 closes down, any other stops, and
    // stops at once where it came before.
    Result<void> listen(OwnFd signals);

    // Stops when nobody has the other end of this descriptor any more. It need not be one that can
    // be waited for.
    void live_as_long_as(int owner);

    // Waits until something is to be done, but no longer than `wait_max`; does it.
    void run_once(std::chrono::nanoseconds wait_max);
    // run_once() until the end.
    void run();

    void stop();     // when everything is drained that can be
    void give_up();  // now
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // The bytes that did not arrive.
    [[nodiscard]] const std::vector<RescuedFile>& rescued() const noexcept { return rescued_; }
    [[nodiscard]] const pool::Directory& directory() const noexcept { return context_->directory; }
    // The report on the end, as one line of JSON.
    [[nodiscard]] const std::string& report() const noexcept { return report_; }
    // It was asked to end twice: something may hang in the file system for ever.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }

private:
    struct Parts {
        SocketListener listener;
        std::unique_ptr<InodesFile> inodes;
        std::unique_ptr<DaemonContext> context;
        OwnFd epoll;
    };
    DaemonServer(const ServerOptions& options, Parts parts, cluster::PeerConnections* peers);

    enum class Source : std::uint64_t { listener, signals, session, bell, peers, owner, journal };
    Result<void> watch(int fd, Source source, std::uint64_t number);
    [[nodiscard]] std::chrono::nanoseconds patience() const;
    [[nodiscard]] bool something_is_near() const;
    void handle(Source source, std::uint64_t number, std::uint32_t events);
    void print_notes();
    void accept_all();
    void read_signals();
    void read(std::uint64_t number, Session& session);
    bool take_question(std::uint64_t number, Session& session);
    void resume_requests();
    void close_distrusted(Session& session);
    void cut_off(Session& session);
    void read_peers();
    void read_owner();
    void tend(std::uint64_t number, Session& session);
    void finish();

    ServerOptions options_;
    SocketListener listener_;
    std::unique_ptr<InodesFile> inodes_;
    std::unique_ptr<DaemonContext> context_;
    Dispatcher dispatcher_;
    DaemonShutdown shutdown_;
    OwnFd epoll_;
    cluster::PeerConnections* peers_;
    int owner_ = -1;
    OwnFd signals_;
    std::map<std::uint64_t, Session> sessions_;  // by numbers that are never used again
    std::uint64_t next_session_ = 0;
    bool did_something_ = false;
    std::chrono::steady_clock::time_point next_question_near_;  // until then
    CoreYielding yielding_;
    bool ended_ = false;
    bool gave_up_ = false;
    std::vector<RescuedFile> rescued_;
    std::string report_;
};

}  // namespace forebay::daemon
