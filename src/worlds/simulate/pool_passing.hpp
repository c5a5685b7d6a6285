// Peer reads in the simulator (pool_readers): few nodes read a file and pass it on to all others.
// The real token manager decides which node passes a file on to which, and the real pool what is
// read for it. In the daemon, pool/cluster/peer_reads/peer_read_client.hpp and
// pool/cluster/peer_reads/peer_read_server.hpp do the same over TCP.
#pragma once

#include "pool/cluster/tokens/member.hpp"
#include "pool/core/pool.hpp"
#include "pool/core/prefetch/peer_storage.hpp"
#include "worlds/simgrid/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace forebay::sim {

class PoolNode;

// Costs of passing on. An interface carries one message at a time in each direction.
struct PassingCosts {
    double link_rate = 1e9;  // bytes per second of an interface
    // Bytes per second of a core that encrypts and sends, or receives and decrypts.
    double pass_rate = 1e9;
};

class PoolPassing final : public pool::PeerBytes {
public:
    // References outlive this object. `all` has the nodes of the job, by number.
    struct Around {
        tokens::Node self = 0;
        std::span<const std::unique_ptr<PoolNode>> all;
        adapters::RankPorts& ports;
        pool::Pool& pool;
        const tokens::TokenMember& member;
    };
    PoolPassing(const Around& around, const PassingCosts& costs) : my_{around}, costs_{costs} {}

    struct ReadWish {
        tokens::FileKey file;
        pool::ChangeStamp seen;
        Extent range;
    };
    // Called by this node's daemon. Returns the request's number; nullopt: no node passes the file
    // on to this one.
    [[nodiscard]] std::optional<std::uint64_t> ask(const ReadWish& wish);
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number) override;
    void forget(std::uint64_t number) override { asked_.erase(number); }

    // Passes on the blocks that have arrived. True if anything was done.
    bool run_once();
    // Virtual seconds until the next requested block arrives, at most `most`.
    [[nodiscard]] double until_next(double most) const;
    // Bytes that this node has received from others.
    [[nodiscard]] std::int64_t received() const noexcept { return received_; }

private:
    struct Asked {
        std::optional<Outcome> outcome;
        double at = 0;  // time of arrival
    };
    struct Waiting {
        tokens::Node from = 0;
        std::uint64_t number = 0;
        std::uint64_t grant = 0;
        ReadWish wish;
        bool begun = false;  // the block is being read
    };
    [[nodiscard]] pool::SharedBytes look(Waiting& one);
    bool pass_on(Waiting& one);
    void answer(const Waiting& one, const Outcome& outcome);
    [[nodiscard]] double now() const { return adapters::seconds(my_.ports); }
    void run_on(tokens::Node to, std::function<void()> what);

    Around my_;
    PassingCosts costs_;
    std::map<std::uint64_t, Asked> asked_;
    std::vector<Waiting> heard_;  // arrived between two events; answering takes time
    std::vector<Waiting> waiting_;
    std::uint64_t next_ = 1;
    std::int64_t received_ = 0;
    double out_free_ = 0;  // time at which the interface has sent, …
    double in_free_ = 0;   // … and received all that was queued
};

}  // namespace forebay::sim
