// Files that few nodes read for all (pool_readers): what one simulated node asks others for, and
// what it passes on. The real token manager decides which node passes a file on to which, and the
// real pool what to read for it; pool/cluster/peer_reads/peer_read_client.hpp and
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

// Costs of passing on. Each interface carries one message after the other, each way.
struct PassingCosts {
    double link_rate = 1e9;  // bytes per second of an interface
    double pass_rate = 1e9;  // of a core that encrypts and sends, or receives and decrypts
};

class PoolPassing final : public pool::PeerBytes {
public:
    // The objects given outlive it. `all`: the nodes of the job, by number.
    struct Around {
        tokens::Node self = 0;
        std::span<const std::unique_ptr<PoolNode>> all;
        adapters::RankPorts& ports;
        pool::Pool& pool;
        const tokens::TokenMember& member;
    };
    PoolPassing(const Around& around, const PassingCosts& costs) : my_{around}, costs_{costs} {}

    struct TokenWish {
        tokens::FileKey file;
        pool::ChangeStamp seen;
        Extent range;
    };
    // By this node's daemon. A number for it; nullopt: nobody passes the file on to this node.
    [[nodiscard]] std::optional<std::uint64_t> ask(const TokenWish& wish);
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number) override;
    void forget(std::uint64_t number) override { asked_.erase(number); }

    // Passes on what is there. True when anything was done.
    bool run_once();
    // Virtual seconds until something that was asked for has come, at most `most`.
    [[nodiscard]] double until_next(double most) const;
    // Bytes that others passed on to this node.
    [[nodiscard]] std::int64_t received() const noexcept { return received_; }

private:
    struct Asked {
        std::optional<Outcome> outcome;
        double at = 0;  // when it is there
    };
    struct Waiting {
        tokens::Node from = 0;
        std::uint64_t number = 0;
        std::uint64_t grant = 0;
        TokenWish wish;
        bool begun = false;  // it is being read
    };
    [[nodiscard]] pool::SharedBytes look(Waiting& one);
    bool pass_on(Waiting& one);
    void answer(const Waiting& one, const Outcome& outcome);
    [[nodiscard]] double now() const {
        return static_cast<double>(my_.ports.clock.now_ns()) * 1e-9;
    }
    void run_on(tokens::Node to, std::function<void()> what);

    Around my_;
    PassingCosts costs_;
    std::map<std::uint64_t, Asked> asked_;
    std::vector<Waiting> heard_;  // between two events: passing on takes time
    std::vector<Waiting> waiting_;
    std::uint64_t next_ = 1;
    std::int64_t received_ = 0;
    double out_free_ = 0;  // when the interface has sent, and …
    double in_free_ = 0;   // … received all that it has been given
};

}  // namespace forebay::sim
