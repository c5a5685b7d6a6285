// Two flat tables instead of a vector per node: thousands of ranks cost a few KiB.
#include "collective/mpi/communicator/roster.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace forebay::adapters {

Roster::Roster(std::span<const std::uint64_t> hosts, std::int32_t ranks_per_node) {
    std::map<std::pair<std::uint64_t, std::int32_t>, NodeId> numbers;
    std::vector<std::size_t> sizes;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto group =
            ranks_per_node > 0 ? static_cast<std::int32_t>(rank) / ranks_per_node : 0;
        const NodeId next{static_cast<std::int32_t>(numbers.size())};
        const NodeId node = numbers.try_emplace({hosts[rank], group}, next).first->second;
        sizes.resize(numbers.size());
        ++sizes[node.position()];
        node_of_.push_back(node);
    }
    begins_.assign(sizes.size() + 1, 0);
    for (std::size_t node = 0; node < sizes.size(); ++node) {
        begins_[node + 1] = begins_[node] + sizes[node];
    }
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    members_.resize(hosts.size());
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        members_[next[node_of_[rank].position()]++] = Rank{static_cast<std::int32_t>(rank)};
    }
}

ports::RankPlace Roster::place_of(Rank rank) const {
    const NodeId node = node_of_.at(rank.position());
    const std::span<const Rank> here = members(node);
    const auto local = std::ranges::lower_bound(here, rank) - here.begin();
    return {rank,
            static_cast<std::int32_t>(node_of_.size()),
            node,
            nodes(),
            LocalRank{static_cast<std::int32_t>(local)},
            static_cast<std::int32_t>(here.size())};
}

std::span<const Rank> Roster::members(NodeId node) const {
    const std::size_t begin = begins_.at(node.position());
    return std::span{members_}.subspan(begin, begins_.at(node.position() + 1) - begin);
}

}  // namespace forebay::adapters
