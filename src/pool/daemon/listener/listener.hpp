// Accepts connections of clients, at a Unix domain socket in a directory that only its owner, the
// user who runs the daemon, can enter. Only one daemon can listen at a socket; one that a dead
// daemon has left is replaced.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace forebay::daemon {

// A connection that was accepted, or why it was not.
struct IncomingConnection {
    OwnFd socket = {};  // not valid: no connection was waiting, or it was rejected
    // The client's process (SO_PEERCRED).
    std::int64_t process = 0;
    std::string refused = {};  // why the connection was rejected; empty: it was not
    // It was rejected because descriptors (EMFILE, ENFILE) or sessions (sessions_max) have run out.
    bool no_room = false;
    // It stays in the queue, where next() finds it again: Shortage::leave_queued, or no descriptor
    // was left even to reject it.
    bool stays_queued = false;
};

class SocketListener {
public:
    // Makes the directory of `path`, with mode 0700, if it is missing. Fails where the directory
    // belongs to another user or others may enter it, and where a living daemon listens at `path`.
    [[nodiscard]] static Result<SocketListener> open(const std::string& path);
    SocketListener(SocketListener&&) noexcept = default;
    SocketListener& operator=(SocketListener&&) = delete;
    SocketListener(const SocketListener&) = delete;
    SocketListener& operator=(const SocketListener&) = delete;
    ~SocketListener();

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // The treatment of a connection for which no descriptor is left.
    enum class Shortage { leave_queued, reject };
    // Accepts the next connection in the queue, without waiting. Connections of other users are
    // rejected, even root's.
    [[nodiscard]] IncomingConnection next(Shortage on_shortage = Shortage::reject);

private:
    [[nodiscard]] IncomingConnection reject_next();
    SocketListener(OwnFd lock, OwnFd socket, std::string path);

    OwnFd lock_;
    OwnFd socket_;
    // A descriptor in reserve: closed for a moment when none is left, to accept and close a
    // connection. Not valid: it could not be opened again so far.
    OwnFd spare_;
    std::string path_;
};

}  // namespace forebay::daemon
