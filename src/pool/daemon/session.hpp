// One connection: what was asked over it and is not answered yet. Replies leave in the order of
// the questions, however long one of them takes.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/cluster/tokens/token.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forebay::daemon {

class Opening;

struct Answer {
    // In the place of a ticket: the reply waits for the end of the daemon.
    static constexpr std::uint64_t until_the_end = ~std::uint64_t{0};

    protocol::Reply reply;
    std::vector<OwnFd> descriptors;
    std::optional<std::uint64_t> ticket;  // the dispatcher's; the reply waits for it
    std::int64_t asked_ns = 0;
    std::shared_ptr<Opening> opening;          // it waits for this
    pool::Reason leaves = pool::Reason::none;  // an opened file: at once, for this reason
    std::optional<tokens::FileKey> file;       // that is being opened, where other nodes may, too
    std::uint64_t group = 0;                   // the group of ranks that open it together
    bool admitted = false;                     // by the other daemons
    std::optional<ports::Identity> program;    // that is to be run
    int refused = 0;                           // errno of the reply, whatever the ticket's is
    bool outside = false;                      // its opener cannot map the pool's memory

    void refuse(int error) noexcept;
    // False: there is no such descriptor, and the answer says so.
    bool pass(Result<OwnFd> descriptor);
};
// For a client, which has no use for the message.
[[nodiscard]] int errno_of(const Error& error) noexcept;

class Session {
public:
    // Questions that may be open; then the session is not read any more until some are answered.
    static constexpr std::size_t answers_max = 64;

    Session(OwnFd socket, std::int64_t process) noexcept
        : socket_{std::move(socket)}, process_{process} {}

    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] std::int64_t process() const noexcept { return process_; }

    // The number of the client, if it uses the pool.
    std::optional<std::uint32_t> client;
    OwnFd bell;
    // A client that got nothing to map, for want of descriptors: what it opens leaves the pool.
    bool outside = false;
    // It stands for programs that nobody captures; see uncaptured.hpp.
    bool uncaptured = false;
    // Generations of the slots that it has opened for writing.
    std::unordered_map<std::uint32_t, std::uint32_t> writes;

    void answer(Answer answer) { answers_.push_back(std::move(answer)); }
    // The first reply that waits for the ticket; null: none does.
    [[nodiscard]] Answer* waiting_for(std::uint64_t ticket) noexcept;
    // Sends what is due. False: the other side is gone.
    [[nodiscard]] bool send();

    [[nodiscard]] bool reads() const noexcept { return !ending_ && answers_.size() < answers_max; }
    // The other side does not take replies at the moment.
    [[nodiscard]] bool blocked() const noexcept { return blocked_; }
    [[nodiscard]] bool unanswered() const noexcept { return !answers_.empty(); }
    // It is closed when what was answered has been sent.
    void end() noexcept { ending_ = true; }
    // Nobody waits for replies any more.
    void drop() noexcept { answers_.clear(); }
    [[nodiscard]] bool ended() const noexcept { return ending_ && answers_.empty(); }

    std::uint32_t watched = 0;  // what epoll looks for

private:
    OwnFd socket_;
    std::int64_t process_;
    std::deque<Answer> answers_;
    bool blocked_ = false;
    bool ending_ = false;
};

}  // namespace forebay::daemon
