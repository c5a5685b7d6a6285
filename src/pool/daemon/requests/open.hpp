// A client opens a file. Its request is a state machine:
//
//   begin ─▶ awaits_token ─▶ opens ─▶ known to the pool ─▶ leaves ─▶ reply
//                │  ▲          │
//                └──┘          └─▶ the reply says why not, and the token is given up
//        not granted yet
//
// Without other daemons there is no token to wait for, and a file that may be pooled does not
// leave. Each state may be over at once.
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
        awaits_token,  // the home of the file says whether this node may cache it
        opens,   // a thread opens it; where there are other daemons, they have admitted this one
        leaves,  // it is known to the pool, and is to be written through from the start
    };

    [[nodiscard]] NextStep go_on() override;
    void release() noexcept override;
    // From one state to the next.
    [[nodiscard]] NextStep request_token();
    [[nodiscard]] NextStep begin_opening();
    [[nodiscard]] NextStep register_file();
    [[nodiscard]] NextStep refuse_opened(int error);
    // Reasons for which the opened file is not pooled, beside the one that it may have already.
    void choose_reason(const pool::DaemonFile& file);
    void read_from_peers(pool::DaemonFile& file) const;
    void close_if_unmapped() const;

    State state_ = State::asked;
    // Shared with the thread that opens the file. Null: it was taken, or nobody wants it.
    std::shared_ptr<FileOpening> opening_;
    pool::ThroughReason reason_ =
        pool::ThroughReason::none;      // it leaves for this; none: it is pooled
    bool client_maps_nothing_ = false;  // it cannot map the pool's memory
    // Where there are other daemons:
    std::optional<tokens::FileKey> key_;
    std::uint64_t group_ = 0;  // of ranks that open it together
    std::optional<TokenTicket> ticket_;
    bool admitted_ = false;  // by them, which is to be followed by entered() or not_entered()
};

}  // namespace forebay::daemon
