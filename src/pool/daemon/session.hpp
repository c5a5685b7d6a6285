// One connection: its client, if it is one, and the replies that it is owed. They leave in the
// order of the questions, however long one of them takes.
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

// A reply in its place in the queue of its session. The request that it answers fills it in.
struct QueuedReply {
    protocol::DaemonReply reply{};
    std::vector<OwnFd> descriptors{};
    bool due = false;  // it is complete, and may be sent

    void refuse(int error) noexcept;
    // False: there is no such descriptor, and the reply says so.
    bool pass(Result<OwnFd> descriptor);
};

// The errno for a client, which has no use for the message.
[[nodiscard]] int errno_of(const Error& error) noexcept;

class Session {
public:
    // Replies that may be owed; then the session is not read any more until some are sent.
    static constexpr std::size_t replies_max = 64;

    Session(OwnFd socket, std::int64_t process) noexcept
        : socket_{std::move(socket)}, process_{process} {}
    // Requests refer to it.
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() = default;

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] std::int64_t process() const noexcept { return process_; }

    // The number of the client, if it uses the pool.
    std::optional<std::uint32_t> client;
    OwnFd bell;
    // A client that got nothing to map, for want of descriptors: what it opens leaves the pool.
    bool maps_nothing = false;
    // The connection stands for programs that are not captured; see uncaptured.hpp.
    bool stands_for_uncaptured = false;
    // Generations of the slots that the client has opened for writing.
    std::unordered_map<std::uint32_t, std::uint32_t> opened_for_writing;

    // The client has the file of the question open for writing.
    [[nodiscard]] bool may_write(const protocol::ClientQuestion& question) const;

    // A place behind all others, for the reply to a question. It stays where it is until it is sent
    // or dropped.
    [[nodiscard]] QueuedReply& add_reply(const protocol::ClientQuestion& question);
    // Sends what is due. False: the other side is gone.
    [[nodiscard]] bool send();

    [[nodiscard]] bool reads() const noexcept { return !ending_ && replies_.size() < replies_max; }
    // The other side does not take replies at the moment.
    [[nodiscard]] bool blocked() const noexcept { return blocked_; }
    [[nodiscard]] bool owes_replies() const noexcept { return !replies_.empty(); }
    // It is closed when its replies have been sent.
    void end() noexcept { ending_ = true; }
    // Nobody is there to take the replies. To be called by the dispatcher, which tells the
    // requests.
    void drop_replies() noexcept { replies_.clear(); }
    [[nodiscard]] bool ended() const noexcept { return ending_ && replies_.empty(); }

    std::uint32_t watched = 0;  // the events that epoll looks for

private:
    OwnFd socket_;
    std::int64_t process_;
    std::deque<QueuedReply> replies_;
    bool blocked_ = false;
    bool ending_ = false;
};

}  // namespace forebay::daemon
