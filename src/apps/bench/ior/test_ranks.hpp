// The ranks of a test as they meet: who is on which node, memory that a node shares, and the few
// collective steps by which all ranks come to know the same. No rank fails alone: what one of them
// says went wrong, all return.
#pragma once

#include "base/result.hpp"
#include "measure/histogram.hpp"
#include "measure/progress.hpp"

#include <cstdint>
#include <mpi.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

// A communicator and what is known of its nodes. Made and ended by all of its ranks together.
class TestRanks {
public:
    explicit TestRanks(MPI_Comm comm);
    ~TestRanks();
    TestRanks(const TestRanks&) = delete;
    TestRanks& operator=(const TestRanks&) = delete;
    TestRanks(TestRanks&&) = delete;
    TestRanks& operator=(TestRanks&&) = delete;

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
    // Neighbouring ranks share a node; false: they go round the nodes.
    [[nodiscard]] bool by_block() const noexcept { return by_block_; }
    [[nodiscard]] int cores_of_node() const noexcept { return cores_; }

    [[nodiscard]] std::span<measure::ProgressSlot> slots() const noexcept { return slots_; }
    [[nodiscard]] std::size_t local_rank() const noexcept {
        return static_cast<std::size_t>(local_rank_);
    }
    [[nodiscard]] measure::ProgressSlot& slot() const noexcept { return slots_[local_rank()]; }

    void barrier() const;
    [[nodiscard]] std::int64_t sum(std::int64_t value) const;
    [[nodiscard]] std::int64_t most(std::int64_t value) const;
    [[nodiscard]] std::int64_t from_first(std::int64_t value) const;
    // The error of the lowest rank that has one, on all ranks, with that rank's number before it
    // where there are several.
    [[nodiscard]] std::optional<Error> agreed(const std::optional<Error>& own) const;
    // On rank 0 what every rank gave, in their order; elsewhere empty.
    [[nodiscard]] std::vector<std::string> gathered(const std::string& own) const;
    [[nodiscard]] measure::Histogram merged(const measure::Histogram& own) const;
    // Plain data of every rank, on all ranks.
    template <class Value>
    [[nodiscard]] std::vector<Value> all(const Value& own) const {
        std::vector<Value> values(static_cast<std::size_t>(size_));
        MPI_Allgather(&own, sizeof own, MPI_BYTE, values.data(), sizeof own, MPI_BYTE, comm_);
        return values;
    }

private:
    void find_nodes();
    void share_slots();

    MPI_Comm comm_;
    MPI_Comm node_comm_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    int rank_ = 0;
    int size_ = 1;
    int local_rank_ = 0;
    int cores_ = 1;
    std::int64_t ranks_of_first_node_ = 1;
    bool by_block_ = true;
    std::vector<std::int64_t> node_of_;
    std::vector<std::string> hosts_;
    std::span<measure::ProgressSlot> slots_;
};

}  // namespace forebay::bench
