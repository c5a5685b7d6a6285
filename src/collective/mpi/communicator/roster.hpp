// Which rank is on which node: a value that every rank computes alike from what all ranks sent.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::adapters {

class Roster {
public:
    // `hosts`: the number of each rank's machine. With `ranks_per_node` > 0 every so many
    // neighbouring ranks of a machine are a node of their own (pretended nodes).
    Roster(std::span<const std::uint64_t> hosts, std::int32_t ranks_per_node);

    [[nodiscard]] ports::RankPlace place_of(Rank rank) const;
    // Nodes are numbered by their lowest rank; ranks of a node ascend.
    [[nodiscard]] std::int32_t nodes() const noexcept {
        return static_cast<std::int32_t>(begins_.size()) - 1;
    }
    [[nodiscard]] std::span<const Rank> members(NodeId node) const;

private:
    std::vector<NodeId> node_of_;      // each rank
    std::vector<std::size_t> begins_;  // of each node in members_, and the end
    std::vector<Rank> members_;
};

}  // namespace forebay::adapters
