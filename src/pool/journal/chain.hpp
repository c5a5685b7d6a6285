// Which segments of a folder are the journal, and in which order.
#pragma once

#include "pool/journal/group.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::pool::journal {

struct SegmentBytes {
    std::uint32_t number = 0;
    std::span<const std::byte> bytes;
};

struct Chain {
    std::vector<Group> groups;            // in order; what is not needed any more is left out
    std::vector<std::uint32_t> segments;  // that they lie in
    std::uint64_t next_record = 1;        // numbers that were never used, from here on
    std::uint64_t next_epoch = 1;
    // Something was durable and is not there (any more): a segment is missing, or cannot be read.
    bool damaged = false;
};

[[nodiscard]] Chain chain_of(std::span<const SegmentBytes> segments);

}  // namespace forebay::pool::journal
