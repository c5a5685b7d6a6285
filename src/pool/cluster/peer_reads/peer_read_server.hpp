// What this node passes on to others: it reads a file, or has it from another node in turn, and
// gives its bytes to those that are told so by the file's home (pool/cluster/tokens/token.hpp).
#pragma once

#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/cluster/transport/peer_transport.hpp"
#include "pool/core/pool.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::server {

class Passing {
public:
    // That one node may wait for at a time; further ones are refused.
    static constexpr std::size_t waiting_max = 256;

    // All outlive it.
    Passing(Post& post, const Companions& companions, pool::Pool& pool)
        : post_{post}, companions_{companions}, pool_{pool} {}

    // Hears what is asked for, and passes on what is there by now. True when anything was done.
    bool turn();
    [[nodiscard]] bool idle() const noexcept { return waiting_.empty(); }
    // Bytes that were passed on.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Waiting {
        Post::Request request;
        bool begun = false;  // it is being read
    };
    [[nodiscard]] pool::Shared look(Waiting& one);
    // True: it is over.
    bool pass_on(Waiting& one);

    Post& post_;
    const Companions& companions_;
    pool::Pool& pool_;
    std::vector<Waiting> waiting_;
    std::int64_t bytes_ = 0;
};

}  // namespace forebay::server
