// The daemon's loop: accepts connections, answers clients' questions, and runs a round of the pool
// in between. One thread.
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
    std::vector<std::string> rescue_folders;  // candidates for rescue files, in this order
    std::string host;  // by which other nodes reach this one; empty: gethostname()
    DaemonOptions daemon;
};

class DaemonServer {
public:
    // Includes connections of processes that only ask, and use no pool.
    static constexpr std::size_t sessions_max = 8 * pool::clients_max;

    // The clocks outlive the server. So do `peers`, if the job has daemons on other nodes (null: it
    // has not); their join() has succeeded before the first run_once().
    [[nodiscard]] static Result<std::unique_ptr<DaemonServer>> make(
        const ServerOptions& options, const DaemonClocks& clocks,
        cluster::PeerConnections* peers = nullptr);
    DaemonServer(const DaemonServer&) = delete;
    DaemonServer& operator=(const DaemonServer&) = delete;
    ~DaemonServer();

    // Handles the signals of this signalfd: SIGUSR1 closes the pool down, any other one stops the
    // daemon, and a second one stops it at once.
    Result<void> listen(OwnFd signals);

    // Stops the daemon when all other ends of `owner` (a pipe or socket) are closed. If `owner`
    // cannot be polled, as a regular file, nothing happens.
    void stop_when_closed(int owner);

    // Waits for an event, at most for `wait_max`, and handles what there is.
    void run_once(std::chrono::nanoseconds wait_max);
    // Calls run_once() until the daemon has ended.
    void run();

    void stop();     // ends once everything that can be drained is
    void give_up();  // ends now
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // The files whose bytes could not be written to them.
    [[nodiscard]] const std::vector<RescuedFile>& rescued() const noexcept { return rescued_; }
    [[nodiscard]] const pool::Directory& directory() const noexcept { return context_->directory; }
    // The final status, as one line of JSON.
    [[nodiscard]] const std::string& report() const noexcept { return report_; }
    // True when the daemon was asked twice to end. A thread may then hang in the file system for
    // ever.
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
    void free_descriptors(const IncomingConnection& waiting);
    // Leaves connections in the queue for some time, and looks at them again when it is over.
    void rest_from_accepting();
    void accept_again_if_due();
    void watch_listener(std::uint32_t events);
    void read_signals();
    void read(std::uint64_t number, Session& session);
    bool take_question(std::uint64_t number, Session& session);
    void resume_requests();
    void close_distrusted(Session& session);
    void cut_off(Session& session);
    void read_peers();
    void read_lifeline();
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
    int owner_ = -1;  // see stop_when_closed(); -1: none
    OwnFd signals_;
    std::map<std::uint64_t, Session> sessions_;  // by numbers that are never used again
    std::uint64_t next_session_ = 0;
    // When the listener is watched again; nullopt: it is watched now.
    std::optional<std::chrono::steady_clock::time_point> accepts_again_at_;
    // Since when connections have waited in the queue for a descriptor; nullopt: none waits.
    std::optional<std::chrono::steady_clock::time_point> short_since_;
    bool did_something_ = false;                                // in the last turn
    std::chrono::steady_clock::time_point next_question_near_;  // until when something_is_near()
    CoreYielding yielding_;
    bool ended_ = false;
    bool gave_up_ = false;
    std::vector<RescuedFile> rescued_;
    std::string report_;
};

}  // namespace forebay::daemon
