// The daemon of one simulated node: the real pool, token manager and deadline in virtual time, over
// files of the simulated file system. A client's request over the socket becomes a function that
// the daemon runs between two rounds, as in the tests' world (pool/core/tests/pool_check.hpp).
//
//   ranks of the node ── logs, directory (real) ──▶ Pool (real) ──▶ Channel (real) ──▶ Machine
//                     ── say() ──▶                  Member (real) ── tell() ──▶ other nodes
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/cluster/tokens/member.hpp"
#include "pool/core/pool.hpp"
#include "pool/policy/deadline.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/pool_passing.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace forebay::sim {

// A daemon's configuration. Its memory is zero and mapped as a whole.
struct NodeShape {
    std::int32_t node = 0;
    std::int32_t nodes = 1;
    std::int32_t ranks = 1;          // ranks of the program on this node
    std::span<std::byte> directory;  // of sizeof(pool::Directory)
    pool::PoolOptions pool;
    FileStripes stripes;         // of all files
    std::int32_t targets = 1;    // of the platform
    std::span<std::byte> clean;  // memory of clean blocks: zeros, shared by all nodes; empty: none
    double touch_rate = 5e8;     // bytes per second at which new memory is touched
    double job_end = 0;          // virtual seconds; 0: unknown
    double deadline = 60;        // seconds before job_end; see pool/policy/deadline.hpp
    std::int32_t readers = 0;    // nodes that read a file for all; 0: each for itself
    PassingCosts passing;
    // All nodes by number, the receivers of token messages.
    std::span<const std::unique_ptr<class PoolNode>> all;
};

// The placement of a file that all nodes know by the same number.
[[nodiscard]] adapters::FilePlace place_of(std::int64_t number, const NodeShape& shape) noexcept;

class PoolNode final : private pool::LogMemory,
                       private pool::CleanMemory,
                       private pool::WordSleepers {
public:
    // `ports` are the daemon's own, and outlive it.
    PoolNode(const NodeShape& shape, adapters::RankPorts& ports);
    PoolNode(const PoolNode&) = delete;
    PoolNode& operator=(const PoolNode&) = delete;
    ~PoolNode() override;

    // The daemon's main loop: until all ranks have left and everything is drained.
    void serve();

    // Called by ranks of the node with their own ports. Each returns when the daemon has done it.
    [[nodiscard]] std::uint32_t join(adapters::RankPorts& rank, pool::Log log);
    struct Wanted {
        std::int64_t number = 0;  // of the file
        std::int64_t bytes = 0;   // size of the file
        pool::AccessMode access = pool::AccessMode::write;
    };
    // If another node has the file open and this one writes to it, the file is known but not
    // pooled.
    [[nodiscard]] pool::FileId open(adapters::RankPorts& rank, std::uint32_t client,
                                    const Wanted& wanted);
    void close(adapters::RankPorts& rank, std::uint32_t client, pool::FileId file);
    // The rank leaves, with its client if it has one. The daemon ends when all ranks have left.
    void leave(adapters::RankPorts& rank, std::optional<std::uint32_t> client);
    // Makes the daemon look at the logs at once.
    void kick(adapters::RankPorts& rank);
    // A message from another node's daemon has arrived.
    void arrive(tokens::Node from, const tokens::TokenMessage& message);
    // Wakes the daemon, between two events.
    void ring() { bell_.fetch_add(1); }
    [[nodiscard]] PoolPassing& passing() noexcept { return passing_; }

    [[nodiscard]] pool::Log log_of(std::uint32_t client) const;
    [[nodiscard]] const std::byte* clean_memory() const noexcept { return shape_.clean.data(); }
    [[nodiscard]] const pool::Directory& directory() const noexcept { return directory_; }

    struct Report {
        double drained_at = 0;         // time at which the last byte was drained
        std::int64_t high = 0;         // peak memory in bytes
        std::int64_t file_high = 0;    // peak bytes of one file in the pool
        std::int64_t drained = 0;      // bytes
        std::int64_t fetched = 0;      // bytes read ahead, …
        std::int64_t passed = 0;       // … and the part of them that other nodes passed on
        std::int64_t messages = 0;     // sent to other nodes
        std::int64_t refused = 0;      // invalid entries: not 0 is an error of the model
        std::int64_t failed_jobs = 0;  // drain jobs that failed
        bool closed_early = false;     // the batch job would have ended
    };
    [[nodiscard]] const Report& report() const noexcept { return report_; }

private:
    // A file that a rank waits to open.
    struct TokenWish {
        Wanted wanted;
        std::uint32_t client = 0;
        pool::FileId* id = nullptr;
        bool* done = nullptr;
    };
    struct PeerMessage {
        tokens::Node from = 0;
        tokens::TokenMessage message;
    };
    bool provide(std::uint32_t client, std::uint32_t block) override;
    void release(std::uint32_t /*client*/, std::uint32_t /*block*/) override {}
    std::byte* block(std::uint32_t number) override;
    bool provide(std::uint32_t number) override;
    void release(std::uint32_t /*number*/) override {}
    void wake(pool::Word& word) override { ports_.communicator.wake(word); }

    void say(adapters::RankPorts& rank, std::function<void()> what);
    void wait_until(adapters::RankPorts& rank, const bool& done);
    bool listen();
    void want(std::uint64_t ticket);
    [[nodiscard]] pool::DaemonFile file_of(const Wanted& wanted);
    bool talk();
    void apply();
    void make_leave(const tokens::MemberActions::Leave& order);
    void look_at_deadline();
    void note();
    void note_file(std::uint32_t slot);
    [[nodiscard]] double now() const { return adapters::seconds(ports_); }
    [[nodiscard]] double patience(bool any) const;

    NodeShape shape_;
    adapters::RankPorts& ports_;
    pool::Directory& directory_;
    pool::Pool pool_;
    tokens::TokenMember member_;
    PoolPassing passing_;
    pool::DrainDeadline deadline_;
    std::int64_t looked_ns_ = 0;  // last check of the deadline
    std::deque<std::function<void()>> said_;
    std::deque<PeerMessage> letters_;
    ports::Word bell_{0};
    ports::Word heard_{0};  // changes when a request of a rank has been done
    std::map<std::uint64_t, TokenWish> wishes_;
    std::map<std::uint32_t, pool::Log> logs_;
    std::map<std::uint64_t, tokens::FileKey> leaving_;  // by the pool's ticket
    std::set<std::uint32_t> slots_;                     // slots of known files
    std::uint64_t next_ticket_ = 1;
    std::int32_t left_ = 0;  // ranks that have left
    Report report_;
};

}  // namespace forebay::sim
