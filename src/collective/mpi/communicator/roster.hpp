// The rank map: which rank is on which node. Every rank computes the same one from what all ranks
// have sent.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::adapters {

class Roster {
public:
    // `hosts`: for each rank, the number of its machine. `ranks_per_node` > 0: the ranks of a
    // machine whose numbers fall into the same block of `ranks_per_node` count as a node of their
    // own (pretended nodes).
    Roster(std::span<const std::uint64_t> hosts, std::int32_t ranks_per_node);

    [[nodiscard]] ports::RankPlace place_of(Rank rank) const;
    // Nodes are numbered by their lowest rank; ranks of a node ascend.
    [[nodiscard]] std::int32_t nodes() const noexcept {
        return static_cast<std::int32_t>(begins_.size()) - 1;
    }
    [[nodiscard]] std::span<const Rank> members(NodeId node) const;

private:
    std::vector<NodeId> node_of_;      // by rank
    std::vector<std::size_t> begins_;  // where each node begins in members_, and the end
    std::vector<Rank> members_;
};

}  // namespace forebay::adapters
