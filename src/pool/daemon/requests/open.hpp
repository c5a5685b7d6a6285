// A client has opened a file, which is to become known to the pool. A state machine:
//
//   begin ─▶ awaits_token ─▶ opens ─▶ known to the pool ─▶ leaves ─▶ reply
//                │  ▲          │
//                └──┘          └─▶ the reply says why not, and the token is given up
//        not granted yet
//
// Without daemons on other nodes, there is no token to wait for; a file that may be pooled does not
// leave. The request may pass through a state without waiting in it.
#pragma once

#include "pool/cluster/tokens/token.hpp"
#include "pool/core/pool.hpp"
#include "pool/daemon/requests/opening.hpp"
#include "pool/daemon/requests/request.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace forebay::daemon {

class OpenFileRequest final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;

    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> descriptors) override;
    void abandon() override;

private:
    enum class State {
        asked,
        awaits_token,  // waits for the home of the file to say whether this node may cache it
        opens,   // being opened, perhaps by another thread; on several nodes, the token is there
        leaves,  // known to the pool, but leaving it: written through from the start
    };

    [[nodiscard]] NextStep go_on() override;
    void release() noexcept override;
    // Each takes the request from one state to the next.
    [[nodiscard]] NextStep request_token();
    [[nodiscard]] NextStep begin_opening();
    [[nodiscard]] NextStep register_file();
    // Refuses the open, and gives the token up that was granted for it.
    [[nodiscard]] NextStep refuse_opened(int error);
    // Finds the reason why the opened file may not be pooled, unless reason_ already has one.
    void choose_reason(const pool::DaemonFile& file, pool::AccessMode access);
    // Lets the file's read-ahead ask another node that has read the same bytes.
    void read_from_peers(pool::DaemonFile& file) const;
    // Has the file drained by the node that writes for this one.
    void write_by_peer(pool::DaemonFile& file, const FileOpening& opening) const;
    // Closes the file for a client that maps no memory of the pool.
    void close_if_unmapped() const;

    State state_ = State::asked;
    // Shared with the thread that opens the file. Null: its result was taken, or the client has
    // gone.
    std::shared_ptr<FileOpening> opening_;
    pool::ThroughReason reason_ =
        pool::ThroughReason::none;      // why the file leaves the pool; none: it stays
    bool client_maps_nothing_ = false;  // the client cannot map the pool's memory
    // The following are used only where there are other daemons.
    std::optional<tokens::FileKey> key_;
    // The group of ranks on several nodes that open the file together; 0: none.
    std::uint64_t group_ = 0;
    std::optional<TokenTicket> ticket_;
    bool admitted_ = false;  // the token was granted; entered() or not_entered() must follow
};

}  // namespace forebay::daemon
