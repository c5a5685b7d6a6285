// Passes files on to other nodes: it reads a file, or gets it from another node in turn, and gives
// its bytes to those that the file's home sends here (pool/cluster/tokens/token.hpp).
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
    // That one node may wait for at a time; further ones are refused.
    static constexpr std::size_t waiting_max = 256;

    // All outlive it.
    PeerReadServer(PeerTransport& post, const CoherenceClient& coherence, pool::Pool& pool)
        : post_{post}, coherence_{coherence}, pool_{pool} {}

    // Hears what is asked for, and passes on what is there by now. True when anything was done.
    bool run_once();
    [[nodiscard]] bool idle() const noexcept { return waiting_.empty(); }
    // Bytes that were passed on.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Waiting {
        PeerTransport::Request request;
        bool begun = false;  // it is being read
    };
    [[nodiscard]] pool::SharedBytes look(Waiting& one);
    // True: it is over.
    bool pass_on(Waiting& one);

    PeerTransport& post_;
    const CoherenceClient& coherence_;
    pool::Pool& pool_;
    std::vector<Waiting> waiting_;
    std::int64_t bytes_ = 0;
};

}  // namespace forebay::cluster
