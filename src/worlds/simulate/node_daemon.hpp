// The port through which a rank's real log writer and reader (pool/client) use the daemon of a
// simulated node: waiting and copying take virtual time, and bytes need not exist.
#pragma once

#include "pool/client/daemon.hpp"
#include "worlds/simgrid/world.hpp"
#include "worlds/simulate/pool_node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::sim {

class NodeDaemon final : public pool::Daemon {
public:
    // `ports` are those of the rank.
    NodeDaemon(PoolNode& node, adapters::RankPorts& ports) : node_{node}, ports_{ports} {}
    ~NodeDaemon() = default;

    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return ports_.clock.now_ns(); }
    void kick() noexcept override { node_.kick(ports_); }
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] pool::Log log_of(std::uint32_t client) noexcept override {
        return node_.log_of(client);
    }
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}
    // The addresses may be imagined.
    void copy(std::byte* /*to*/, std::span<const std::byte> bytes) noexcept override;

    // Seconds spent in wait().
    [[nodiscard]] double waited() const noexcept { return waited_; }

private:
    PoolNode& node_;
    adapters::RankPorts& ports_;
    double waited_ = 0;
};

}  // namespace forebay::sim
