// The ranks of a real MPI communicator. Between ranks of a node there is shared memory and no
// message; only node leaders send. All MPI calls are made by PMPI names in the caller's own calls,
// so MPI_THREAD_SINGLE is enough and nothing that overrides MPI names is met.
#pragma once

#include "collective/mpi/communicator/roster.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/communicator.hpp"
#include "storage/posix/mapping.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <sys/types.h>
#include <vector>

namespace forebay::adapters {

struct MpiCommunicatorOptions {
    std::size_t node_bytes = 0;       // of node memory
    std::int32_t ranks_per_node = 0;  // > 0: pretended nodes, see Roster
};

class MpiCommunicator final : public ports::Communicator {
public:
    // Collective over `user`, an intracommunicator; the same outcome on every rank. Costs two
    // collectives over the ranks (a communicator of our own, who is where) and one agreement, and
    // one communicator among the leaders if there are several nodes.
    [[nodiscard]] static Result<std::unique_ptr<MpiCommunicator>> create(
        MPI_Comm user, const MpiCommunicatorOptions& options);
    // Collective in MPI's terms, but needs nobody else to come; does nothing after MPI_Finalize.
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    // Whether `user` has the same ranks in the same order. Local.
    [[nodiscard]] bool matches(MPI_Comm user) const noexcept;
    // All ranks, for what is collective between files' calls (the record, the layout).
    [[nodiscard]] MPI_Comm own() const noexcept { return own_; }
    // As many ranks as cores at most: waiting ranks may spin.
    [[nodiscard]] bool spins() const noexcept { return spins_; }

    // Collective: rank 0's `bytes`, at most broadcast_bytes_max, become everyone's. Through shared
    // memory where there is one node.
    static constexpr std::size_t broadcast_bytes_max = 2048;
    void broadcast(std::span<std::byte> bytes) noexcept;

    // Gives node memory from byte `from` on back to the system; it reads as zeros again. By one
    // rank of a node, while none of them uses it.
    void give_back(std::size_t from) noexcept;

    [[nodiscard]] const ports::RankPlace& place() const noexcept override { return place_; }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return roster_.members(node)[local.position()];
    }
    [[nodiscard]] std::int32_t locals_on(NodeId node) const noexcept override {
        return static_cast<std::int32_t>(roster_.members(node).size());
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override;

    void wait(const ports::Word& word, std::uint32_t seen) noexcept override;
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override;
    void wake(ports::Word& word) noexcept override;

    Result<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
    // Contract: less than 2 GiB; 0 <= tag <= 32767.
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override;
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override;
    bool done(Ticket ticket) override;

private:
    struct Card;
    struct Control;

    MpiCommunicator(MPI_Comm own, Roster roster, Rank rank);

    Result<void> attach(const std::vector<Card>& cards, const MpiCommunicatorOptions& options);
    Result<void> join_leaders();
    void count_cores(const std::vector<Card>& cards);
    void watch_peers(const std::vector<Card>& cards);
    [[nodiscard]] Control& control() const noexcept;
    [[nodiscard]] bool spin(const ports::Word& word, std::uint32_t seen) const noexcept;
    void after_timeout() noexcept;
    // A message's properties beside its bytes, and the trouble to report if MPI refuses it.
    struct Envelope {
        NodeId other;
        int tag;
        const char* trouble;
    };
    template <class Byte, class Call>
    Ticket begin(Call call, const Envelope& envelope, std::span<Byte> bytes);
    Ticket keep(MPI_Request request);

    MPI_Comm own_;                      // all ranks; no message is ever sent on it
    MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank a node, in node order; on leaders only
    Roster roster_;
    ports::RankPlace place_;
    MemoryMapping memory_;      // the control page, then node memory
    std::vector<pid_t> peers_;  // other ranks of this machine, to see whether they live
    std::int64_t look_at_peers_ns_ = 0;
    std::vector<MPI_Request> requests_;  // by ticket; MPI_REQUEST_NULL: a free place
    std::uint32_t told_ = 0;             // how often
    bool spins_ = false;
};

}  // namespace forebay::adapters
