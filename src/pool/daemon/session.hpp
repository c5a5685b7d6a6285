// One connection of a process to the daemon: its client, if it uses the pool, and the replies that
// it is owed. Replies are sent in the order of the questions, however long one of them takes.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/protocol/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forebay::daemon {

// A reply in its place in the session's queue, to be filled in by the request that it belongs to.
struct QueuedReply {
    protocol::DaemonReply reply{};
    std::vector<OwnFd> descriptors{};
    bool due = false;  // the reply is complete and may be sent

    // Sets the errno, and drops the descriptors.
    void refuse(int error) noexcept;
    // Adds a descriptor to the reply. False: there is none, and the reply has its errno instead.
    bool pass(Result<OwnFd> descriptor);
};

class Session {
public:
    // How many replies may be owed. When that many are, nothing more is read from the session until
    // some have been sent.
    static constexpr std::size_t replies_max = 64;

    Session(OwnFd socket, std::int64_t process) noexcept
        : socket_{std::move(socket)}, process_{process} {}
    // Not copyable or movable, because requests refer to it.
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() = default;

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] std::int64_t process() const noexcept { return process_; }

    // The client's number; nullopt: the process does not use the pool.
    std::optional<std::uint32_t> client;
    // An eventfd by which the client wakes the daemon.
    OwnFd bell;
    // The client was admitted without a log, as descriptors are scarce. A file that it opens leaves
    // the pool.
    bool maps_nothing = false;
    // The connection was inherited by programs that are not captured; see uncaptured.hpp.
    bool stands_for_uncaptured = false;
    // The client is a mount: it brings the calls of every program.
    bool mounts = false;
    // The slots of files that the client has opened for writing, each with its generation. Not
    // taken out when they are closed: a close does not say which of several opens it ends.
    std::unordered_map<std::uint32_t, std::uint32_t> opened_for_writing;

    // True when this session's client has opened the question's file for writing, even if it has
    // closed it since.
    [[nodiscard]] bool may_write(const protocol::ClientQuestion& question) const;

    // Adds the place for a question's reply at the end of the queue. Its address does not change
    // until it is sent or dropped.
    [[nodiscard]] QueuedReply& add_reply(const protocol::ClientQuestion& question);
    // Sends the replies that are due. False: the other side has closed the connection.
    [[nodiscard]] bool send();

    [[nodiscard]] bool reads() const noexcept { return !ending_ && replies_.size() < replies_max; }
    // The other side's queue is full.
    [[nodiscard]] bool blocked() const noexcept { return blocked_; }
    [[nodiscard]] bool owes_replies() const noexcept { return !replies_.empty(); }
    // The session is closed once its replies have been sent.
    void end() noexcept { ending_ = true; }
    // Drops all replies, as the other side has gone. To be called by the dispatcher, which
    // tells the requests.
    void drop_replies() noexcept { replies_.clear(); }
    [[nodiscard]] bool ended() const noexcept { return ending_ && replies_.empty(); }

    std::uint32_t watched = 0;  // the events for which the socket is registered with epoll

private:
    OwnFd socket_;
    std::int64_t process_;
    std::deque<QueuedReply> replies_;
    bool blocked_ = false;
    bool ending_ = false;
};

}  // namespace forebay::daemon
