// Which node writes to the file system for which, where few nodes write for all (setting
// pool_writers). Pure: every node computes the same.
#pragma once

#include <cstdint>
#include <optional>

namespace forebay::pool {

// The number of this node in its job, how many nodes there are, and how many of them write.
struct WriterPlace {
    std::uint32_t self = 0;
    std::uint32_t nodes = 1;
    std::uint32_t writers = 0;  // 0: each node writes for itself
};

// The node that writes for this one; nullopt: it writes for itself. The nodes are cut into
// `writers` groups of consecutive ones, as equal as can be, and the last node of each writes: where
// ranks are placed node by node, that is where `forebay run --io-ranks --spread` has the I/O ranks
// of a group (io_ranks/policy/roles.hpp).
[[nodiscard]] std::optional<std::uint32_t> writer_for(const WriterPlace& place) noexcept;

}  // namespace forebay::pool
