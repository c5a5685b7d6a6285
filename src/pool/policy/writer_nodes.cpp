// Group g of G ends where ⌈(g + 1) · nodes / G⌉ says.
#include "pool/policy/writer_nodes.hpp"

namespace forebay::pool {

namespace {

// The number of the first node behind a group.
std::uint64_t end_of(std::uint64_t group, const WriterPlace& place) noexcept {
    return ((group + 1) * place.nodes + place.writers - 1) / place.writers;
}

// The group that a node belongs to: the first one that does not end before it.
std::uint64_t group_of(std::uint32_t node, const WriterPlace& place) noexcept {
    return std::uint64_t{node} * place.writers / place.nodes;
}

}  // namespace

std::optional<std::uint32_t> writer_for(const WriterPlace& place) noexcept {
    if (place.writers == 0 || place.writers >= place.nodes) {
        return std::nullopt;
    }
    const auto writer = static_cast<std::uint32_t>(end_of(group_of(place.self, place), place) - 1);
    return writer == place.self ? std::nullopt : std::optional{writer};
}

}  // namespace forebay::pool
