// Node memory is mapped rather than allocated: page-aligned, zero, and free until touched.
#include "worlds/memory/nodes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forebay::adapters {

namespace {

std::vector<NodeId> nodes_of_ranks(const NodesOptions& options) {
    std::vector<std::int32_t> left = options.node_sizes;
    const std::int32_t ranks = std::accumulate(left.begin(), left.end(), 0);
    std::vector<NodeId> nodes;
    std::size_t node = 0;
    while (std::cmp_less(nodes.size(), ranks)) {
        if (left[node] > 0) {
            --left[node];
            nodes.emplace_back(static_cast<std::int32_t>(node));
        }
        if (options.arrangement == RankArrangement::round_robin || left[node] == 0) {
            node = (node + 1) % left.size();
        }
    }
    return nodes;
}

}  // namespace

NodeMembers::NodeMembers(const NodesOptions& options)
    : mail{options.eager_bytes}, gathering{options.node_sizes.size()} {
    expects(!options.node_sizes.empty(), "a cluster has a node");
    expects(std::ranges::all_of(options.node_sizes, [](std::int32_t size) { return size > 0; }),
            "a node has a rank");
    members.resize(options.node_sizes.size());
    std::int32_t rank = 0;
    for (const NodeId node : nodes_of_ranks(options)) {
        std::vector<Rank>& here = members[node.position()];
        places.push_back({Rank{rank}, 0, node, static_cast<std::int32_t>(members.size()),
                          LocalRank{static_cast<std::int32_t>(here.size())},
                          options.node_sizes[node.position()]});
        here.emplace_back(rank++);
    }
    for (ports::RankPlace& place : places) {
        place.ranks = rank;
    }
    for (std::size_t node = 0; node < members.size(); ++node) {
        Result<MemoryMapping> mapping = MemoryMapping::anonymous(options.node_bytes);
        expects(mapping.has_value(), "there is memory for an imagined node");
        memory.push_back(std::move(*mapping));
    }
}

std::uint64_t NodeGathering::bring(NodeId node, std::span<const std::byte> mine) {
    const std::uint64_t number = done_;
    std::vector<std::byte>& part = parts_[number % 2];
    const std::size_t all = mine.size() * nodes_;
    if (arrived_ == 0) {
        part.assign(all, std::byte{0});
    }
    expects(part.size() == all, "every node gathers the same size");
    std::ranges::copy(mine,
                      part.begin() + static_cast<std::ptrdiff_t>(node.position() * mine.size()));
    if (++arrived_ == nodes_) {
        arrived_ = 0;
        ++done_;
    }
    return number;
}

void NodeGathering::take(std::uint64_t number, std::span<std::byte> all) const {
    const std::vector<std::byte>& part = parts_[number % 2];
    expects(complete(number) && all.size() == part.size(), "all holds one part of every node");
    std::ranges::copy(part, all.begin());
}

}  // namespace forebay::adapters
