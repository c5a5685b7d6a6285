// The common parts of clusters in memory, whether their ranks are threads or actors: the placement
// of ranks, node memory, messages, and the all-gather.
#pragma once

#include "foundation/ports/communicator.hpp"
#include "storage/posix/mapping.hpp"
#include "worlds/memory/mail.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::adapters {

// The node on which the next rank is placed.
enum class RankArrangement {
    blocks,       // the node of the previous rank, until it is full
    round_robin,  // the next node that is not full
};

struct NodesOptions {
    std::vector<std::int32_t> node_sizes = {1};  // ranks on each node
    RankArrangement arrangement = RankArrangement::blocks;
    // Node memory; only touched pages cost anything.
    std::size_t node_bytes = std::size_t{64} << 20;
    // Larger messages are copied only when the receiver asks for them (MPI's rendezvous protocol).
    std::size_t eager_bytes = 1024;
};

// An all-gather: each node brings its part and takes all parts. Waiting is left to the caller.
class NodeGathering {
public:
    explicit NodeGathering(std::size_t nodes) noexcept : nodes_{nodes} {}

    // Returns the number of this all-gather.
    std::uint64_t bring(NodeId node, std::span<const std::byte> mine);
    [[nodiscard]] bool complete(std::uint64_t number) const noexcept { return done_ > number; }
    // Contract: the all-gather is complete, and the node has not brought its part of the next one.
    void take(std::uint64_t number, std::span<std::byte> all) const;

private:
    std::size_t nodes_;
    std::size_t arrived_ = 0;
    std::uint64_t done_ = 0;  // completed all-gathers
    // The parts of the present all-gather and of the previous one, which stays readable until every
    // node has brought its part of the present one, and thus has read it.
    std::array<std::vector<std::byte>, 2> parts_;
};

struct NodeMembers {
    explicit NodeMembers(const NodesOptions& options);

    std::vector<std::vector<Rank>> members;  // ranks of each node
    std::vector<ports::RankPlace> places;    // place of each rank
    std::vector<MemoryMapping> memory;       // memory of each node
    NodeMailbox mail;
    NodeGathering gathering;
};

// The functions of a communicator that do not block.
class NodeMember : public ports::Communicator {
public:
    NodeMember(NodeMembers& nodes, const ports::RankPlace& place) noexcept
        : nodes_{nodes}, place_{place} {}

    [[nodiscard]] const ports::RankPlace& place() const noexcept override { return place_; }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return nodes_.members[node.position()][local.position()];
    }
    [[nodiscard]] std::int32_t locals_on(NodeId node) const noexcept override {
        return static_cast<std::int32_t>(nodes_.members[node.position()].size());
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override {
        return nodes_.memory[place_.node.position()].bytes();
    }
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        expects(place_.leader() && to != place_.node, "leaders send to other nodes");
        return nodes_.mail.send({place_.node, to, tag}, bytes);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        expects(place_.leader() && from != place_.node, "leaders receive from other nodes");
        return nodes_.mail.receive({from, place_.node, tag}, bytes);
    }
    std::optional<std::size_t> done(Ticket ticket) override { return nodes_.mail.done(ticket); }

private:
    NodeMembers& nodes_;
    ports::RankPlace place_;
};

}  // namespace forebay::adapters
