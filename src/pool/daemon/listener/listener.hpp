// Where clients come in: a socket in a folder that only its user can enter. One daemon stands at
// it; what a dead one left is cleared away.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace forebay::daemon {

// An incoming connection, as the kernel reports it.
struct IncomingConnection {
    OwnFd socket = {};  // not valid: nobody was there, or it was rejected
    std::int64_t process = 0;
    std::string refused = {};  // why it was rejected; empty: it was not
    bool no_room = false;      // which is why
};

class SocketListener {
public:
    // Makes the folder of `path`, with mode 0700, where it is missing. Fails where the folder is
    // somebody else's or open to others, and where a daemon that lives stands at the listener.
    [[nodiscard]] static Result<SocketListener> open(const std::string& path);
    SocketListener(SocketListener&&) noexcept = default;
    SocketListener& operator=(SocketListener&&) = delete;
    SocketListener(const SocketListener&) = delete;
    SocketListener& operator=(const SocketListener&) = delete;
    ~SocketListener();

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Next in the queue. Only processes of this user are accepted; not even root's are.
    [[nodiscard]] IncomingConnection next();

private:
    SocketListener(OwnFd lock, OwnFd socket, std::string path);

    OwnFd lock_;
    OwnFd socket_;
    OwnFd spare_;  // given up for a moment to send somebody away when descriptors have run out
    std::string path_;
};

}  // namespace forebay::daemon
