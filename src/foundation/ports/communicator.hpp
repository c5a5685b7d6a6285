// The other ranks, as the engine uses them: memory and words shared by the ranks of one node, and
// messages between the nodes' leaders. No message passes between ranks of one node.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::ports {

// A word in node-shared memory that ranks wait on. Lives in memory given by node_memory().
using Word = std::atomic<std::uint32_t>;

// Where this rank is. Local rank 0 of a node is its leader. Nodes are numbered by the lowest rank
// on them; rank numbers are those of the file's communicator.
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
    // The rank that is local rank `local` on `node`.
    [[nodiscard]] virtual Rank rank_at(NodeId node, LocalRank local) const noexcept = 0;
    // Ranks on `node`.
    [[nodiscard]] virtual std::int32_t locals_on(NodeId node) const noexcept = 0;

    // The node's shared memory: the same bytes for every rank of the node, zero at first,
    // page-aligned.
    [[nodiscard]] virtual std::span<std::byte> node_memory() noexcept = 0;

    // Blocks until `word` is not `seen` any more. May spin shortly, must sleep then, and keeps the
    // message library progressing (another rank may still need it to reach the same place).
    virtual void wait(const Word& word, std::uint32_t seen) noexcept = 0;
    // As wait, but returns after about a tenth of a millisecond even when nothing changed.
    virtual void wait_briefly(const Word& word, std::uint32_t seen) noexcept = 0;
    // Wakes all who wait on `word`; call after changing it.
    virtual void wake(Word& word) noexcept = 0;

    // Leaders only: each node's `mine` (the same size everywhere) in node order into `all`.
    virtual Result<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

    // Leaders only: messages to the leader of another node. The memory must live until done() says
    // true. A message is received by a receive of the same tag from its sender; messages of one
    // sender and tag keep their order. `bytes` of a receive may be larger than the message.
    using Ticket = std::uint64_t;
    virtual Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) = 0;
    virtual Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) = 0;
    // True once, when the operation has ended; the ticket is then gone.
    virtual bool done(Ticket ticket) = 0;
};

}  // namespace forebay::ports
