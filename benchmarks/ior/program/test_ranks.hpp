// The ranks that take part in a test: their communicator, and their placement on nodes.
#pragma once

#include "benchmarks/measure/histogram.hpp"
#include "benchmarks/measure/progress.hpp"
#include "benchmarks/session/node.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <mpi.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

// Created and destroyed by all ranks of the communicator together.
class TestRanks {
public:
    explicit TestRanks(MPI_Comm comm);

    [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] bool first() const noexcept { return rank_ == 0; }
    [[nodiscard]] std::int64_t node_of(std::int64_t rank) const {
        return node_of_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::int64_t nodes() const noexcept {
        return static_cast<std::int64_t>(hosts_.size());
    }
    [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; }
    [[nodiscard]] std::int64_t ranks_of_node() const noexcept { return ranks_of_first_node_; }
    // True if adjacent ranks share a node; false if ranks are placed round robin.
    [[nodiscard]] bool by_block() const noexcept { return by_block_; }
    [[nodiscard]] int cores_of_node() const noexcept { return node_.cores(); }
    [[nodiscard]] bool shares_cores() const noexcept { return node_.shares_cores(); }

    [[nodiscard]] std::span<measure::ProgressSlot> slots() const noexcept { return node_.slots(); }
    [[nodiscard]] std::size_t local_rank() const noexcept {
        return static_cast<std::size_t>(node_.rank());
    }
    [[nodiscard]] measure::ProgressSlot& slot() const noexcept { return node_.own_slot(); }

    void barrier() const;
    [[nodiscard]] std::int64_t sum(std::int64_t value) const;
    [[nodiscard]] std::int64_t most(std::int64_t value) const;
    [[nodiscard]] std::int64_t from_first(std::int64_t value) const;
    // As bench::agreed().
    [[nodiscard]] std::optional<Error> agreed(const std::optional<Error>& own) const;
    // Gathers the texts of all ranks on rank 0, in rank order; empty on other ranks.
    [[nodiscard]] std::vector<std::string> gathered(const std::string& own) const;
    // The sum of all histograms, on rank 0.
    [[nodiscard]] measure::LatencyHistogram merged(const measure::LatencyHistogram& own) const;
    // All-gather of a trivially copyable value.
    template <class Value>
    [[nodiscard]] std::vector<Value> all(const Value& own) const {
        std::vector<Value> values(static_cast<std::size_t>(size_));
        MPI_Allgather(&own, sizeof own, MPI_BYTE, values.data(), sizeof own, MPI_BYTE, comm_);
        return values;
    }

private:
    void find_nodes();

    MPI_Comm comm_;
    NodeRanks node_;
    int rank_ = 0;
    int size_ = 1;
    std::int64_t ranks_of_first_node_ = 1;
    bool by_block_ = true;
    std::vector<std::int64_t> node_of_;
    std::vector<std::string> hosts_;
};

}  // namespace forebay::bench
