// Finds out which ranks share a node, and wraps MPI's collectives.
#include "benchmarks/ior/program/test_ranks.hpp"

#include "benchmarks/session/together.hpp"

#include <algorithm>

namespace forebay::bench {

TestRanks::TestRanks(MPI_Comm comm) : comm_(comm), node_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    find_nodes();
}

// Ranks that can share memory form a node, which is named after the host of its lowest rank.
void TestRanks::find_nodes() {
    const std::vector<std::int32_t> leaders = all(node_.leader());
    const std::vector<HostName> names = all(own_host());
    std::vector<std::int32_t> known;
    for (std::size_t rank = 0; rank < leaders.size(); ++rank) {
        auto found = std::find(known.begin(), known.end(), leaders[rank]);
        if (found == known.end()) {
            known.push_back(leaders[rank]);
            hosts_.emplace_back(names[rank].data());
            found = known.end() - 1;
        }
        node_of_.push_back(found - known.begin());
    }
    ranks_of_first_node_ = std::count(node_of_.begin(), node_of_.end(), 0);
    by_block_ = hosts_.size() == 1 || size_ == 1 || node_of_[1] == node_of_[0];
}

void TestRanks::barrier() const { MPI_Barrier(comm_); }

std::int64_t TestRanks::sum(std::int64_t value) const { return bench::sum(value, comm_); }

std::int64_t TestRanks::most(std::int64_t value) const {
    std::int64_t greatest = 0;
    MPI_Allreduce(&value, &greatest, 1, MPI_INT64_T, MPI_MAX, comm_);
    return greatest;
}

std::int64_t TestRanks::from_first(std::int64_t value) const {
    MPI_Bcast(&value, 1, MPI_INT64_T, 0, comm_);
    return value;
}

std::optional<Error> TestRanks::agreed(const std::optional<Error>& own) const {
    const auto all = bench::agreed(own ? Result<void>(failure(*own)) : Result<void>{}, comm_);
    return all ? std::nullopt : std::optional<Error>(all.error());
}

std::vector<std::string> TestRanks::gathered(const std::string& own) const {
    return bench::gathered(own, comm_);
}

measure::LatencyHistogram TestRanks::merged(const measure::LatencyHistogram& own) const {
    return bench::merged(own, comm_);
}

}  // namespace forebay::bench
