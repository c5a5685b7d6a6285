// The ranks of a communicator that share a node: their numbers, the cores that they may use, and
// the shared memory with their progress.
#pragma once

#include "benchmarks/measure/progress.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <span>

namespace forebay::bench {

using HostName = std::array<char, 64>;
[[nodiscard]] HostName own_host() noexcept;

// Created and destroyed by all ranks of the communicator together.
class NodeRanks {
public:
    explicit NodeRanks(MPI_Comm all);
    ~NodeRanks();
    NodeRanks(const NodeRanks&) = delete;
    NodeRanks& operator=(const NodeRanks&) = delete;
    NodeRanks(NodeRanks&&) = delete;
    NodeRanks& operator=(NodeRanks&&) = delete;

    // This rank's number on its node, in the order of the communicator.
    [[nodiscard]] std::int32_t rank() const noexcept { return rank_; }
    [[nodiscard]] std::int32_t ranks() const noexcept { return ranks_; }
    // The lowest rank of this node in the communicator.
    [[nodiscard]] std::int32_t leader() const noexcept { return leader_; }
    // The number of cores that the node's ranks may use: the union of their affinity masks, since a
    // launcher, batch system or user may have restricted each rank to other cores.
    [[nodiscard]] std::int32_t cores() const noexcept { return cores_; }
    [[nodiscard]] bool shares_cores() const noexcept { return ranks_ > cores_; }
    // One slot for each rank of the node.
    [[nodiscard]] std::span<measure::ProgressSlot> slots() const noexcept { return slots_; }
    [[nodiscard]] measure::ProgressSlot& own_slot() const noexcept {
        return slots_[static_cast<std::size_t>(rank_)];
    }

private:
    void share_slots();

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::int32_t rank_ = 0;
    std::int32_t ranks_ = 1;
    std::int32_t leader_ = 0;
    std::int32_t cores_ = 1;
    std::span<measure::ProgressSlot> slots_;
};

}  // namespace forebay::bench
