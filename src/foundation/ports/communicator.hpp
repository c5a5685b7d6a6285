// Port to the other ranks: shared memory and futex words within a node, messages and all-gather
// between the nodes' leaders. Ranks of one node send each other no messages.
#pragma once

#include "foundation/base/units.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::ports {

// A futex word in node-shared memory (node_memory()), on which ranks wait.
using Word = std::atomic<std::uint32_t>;

// A rank's place among the nodes. Local rank 0 of a node is its leader. Nodes are numbered in the
// order of their lowest ranks; ranks are those of the file's communicator.
struct RankPlace {
    Rank rank;
    std::int32_t ranks = 1;
    NodeId node;
    std::int32_t nodes = 1;
    LocalRank local;
    std::int32_t locals = 1;  // ranks on this node

    [[nodiscard]] bool leader() const noexcept { return local.value() == 0; }
};

class Communicator {
public:
    virtual ~Communicator() = default;

    [[nodiscard]] virtual const RankPlace& place() const noexcept = 0;
    // The rank whose local rank on `node` is `local`.
    [[nodiscard]] virtual Rank rank_at(NodeId node, LocalRank local) const noexcept = 0;
    // The number of ranks on `node`.
    [[nodiscard]] virtual std::int32_t locals_on(NodeId node) const noexcept = 0;

    // The node's shared memory: the same bytes for every rank of the node, zero at the start and
    // aligned to 4096 bytes.
    [[nodiscard]] virtual std::span<std::byte> node_memory() noexcept = 0;

    // Blocks until `word` differs from `seen`. An implementation may spin briefly before it sleeps,
    // and keeps the MPI's progress engine running, since another rank may need that to arrive here.
    virtual void wait(const Word& word, std::uint32_t seen) noexcept = 0;
    // As wait(), but returns after about 0.1 ms even if the word has not changed.
    virtual void wait_briefly(const Word& word, std::uint32_t seen) noexcept = 0;
    // Wakes all ranks that wait on `word`; to be called after changing it.
    virtual void wake(Word& word) noexcept = 0;

    // All-gather among the leaders: stores each node's `mine` (of the same size everywhere) in
    // `all`, in the order of nodes. Called by leaders only. It returns no error, and neither do the
    // messages below: where one fails, other leaders may already act on its result and wait for
    // this one, so an implementation that cannot go on ends the job.
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

    // Point-to-point messages to and from the leader of another node, by leaders only. The memory
    // must live until done() returns a number. A receive matches its sender and tag; messages of
    // one sender and tag keep their order. The receive's `bytes` may be larger than the message.
    using Ticket = std::uint64_t;
    virtual Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) = 0;
    virtual Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) = 0;
    // The number of bytes that a receive has got (of no meaning for a send), once, when the
    // operation has completed; the ticket is then invalid. nullopt: it has not completed.
    virtual std::optional<std::size_t> done(Ticket ticket) = 0;
};

}  // namespace forebay::ports
