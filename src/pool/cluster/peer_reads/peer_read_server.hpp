// Passes bytes of files on to other nodes: to those whose grants name this node as their parent
// (pool/cluster/tokens/token.hpp). This node has read the bytes from the file system, or has got
// them from its own parent.
#pragma once

#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/cluster/transport/peer_transport.hpp"
#include "pool/core/pool.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::cluster {

class PeerReadServer {
public:
    // Requests of one node that may wait at a time; further ones are refused.
    static constexpr std::size_t waiting_max = 256;

    // All parameters outlive this object.
    PeerReadServer(PeerTransport& post, const CoherenceClient& coherence, pool::Pool& pool)
        : post_{post}, coherence_{coherence}, pool_{pool} {}

    // Takes new requests, and answers those whose bytes have come by now. True when anything was
    // done.
    bool run_once();
    [[nodiscard]] bool idle() const noexcept { return waiting_.empty(); }
    // How many bytes were passed on.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Waiting {
        PeerTransport::Request request;
        bool begun = false;  // the pool was asked to read the bytes ahead
    };
    [[nodiscard]] pool::SharedBytes look(Waiting& one);
    // True: the request is answered, or nobody waits for the answer.
    bool pass_on(Waiting& one);

    PeerTransport& post_;
    const CoherenceClient& coherence_;
    pool::Pool& pool_;
    std::vector<Waiting> waiting_;
    std::int64_t bytes_ = 0;
};

}  // namespace forebay::cluster
