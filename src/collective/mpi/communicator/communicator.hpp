// The adapter of ports::Communicator for a real MPI communicator. The ranks of a node share memory
// and exchange no messages; only the leaders of nodes send. All MPI calls are made by their PMPI
// names within calls of the program. So MPI_THREAD_SINGLE is enough, and no tool that overrides MPI
// names sees them.
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
    std::size_t node_bytes = 0;       // bytes of node memory
    std::int32_t ranks_per_node = 0;  // > 0: pretended nodes of so many ranks (Roster)
};

class MpiCommunicator final : public ports::Communicator {
public:
    // Collective over `user`, an intracommunicator; the same outcome on every rank. It costs two
    // collectives over all ranks (making our own communicator, gathering where each rank is) and
    // one agreement; with several nodes also making a communicator of the leaders.
    [[nodiscard]] static Result<std::unique_ptr<MpiCommunicator>> create(
        MPI_Comm user, const MpiCommunicatorOptions& options);
    // Collective in the terms of MPI, but waits for no other rank. Does nothing after MPI_Finalize.
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    // Whether `user` has the same ranks in the same order. Local.
    [[nodiscard]] bool matches(MPI_Comm user) const noexcept;
    // The communicator of all ranks, for what is collective between calls on files (the record, the
    // layout).
    [[nodiscard]] MPI_Comm own() const noexcept { return own_; }
    // Whether waiting ranks may spin: their machine has a core for each of its ranks.
    [[nodiscard]] bool spins() const noexcept { return spins_; }

    // Collective broadcast of rank 0's `bytes`, of which there are at most broadcast_bytes_max. On
    // a single node it goes through shared memory.
    static constexpr std::size_t broadcast_bytes_max = 2048;
    void broadcast(std::span<std::byte> bytes) noexcept;

    // Gives node memory from byte `from` on back to the system; it reads as zeros again. To be
    // called by one rank of a node, while no rank uses that memory.
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

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
    // Contract for both: less than 2 GiB; 0 <= tag <= 32767.
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override;
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override;
    std::optional<std::size_t> done(Ticket ticket) override;

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
    // The properties of a message beside its bytes, and the error to report if the MPI refuses it.
    struct Envelope {
        NodeId other;
        int tag;
        const char* trouble;
    };
    template <class Byte, class Call>
    Ticket begin(Call call, const Envelope& envelope, std::span<Byte> bytes);
    Ticket keep(MPI_Request request);

    MPI_Comm own_;                      // all ranks; no message is ever sent on it
    MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank of each node, in node order; on leaders only
    Roster roster_;
    ports::RankPlace place_;
    MemoryMapping memory_;  // the control page, then node memory
    // Processes of the other ranks on this machine, to check that they live.
    std::vector<pid_t> peers_;
    // The time of the next check.
    std::int64_t look_at_peers_ns_ = 0;
    std::vector<MPI_Request> requests_;  // by ticket; MPI_REQUEST_NULL: a free place
    std::uint32_t told_ = 0;             // number of broadcasts so far
    bool spins_ = false;
};

}  // namespace forebay::adapters
