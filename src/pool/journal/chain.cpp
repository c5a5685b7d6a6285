#include "pool/journal/chain.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace forebay::pool::journal {

Chain chain_of(std::span<const SegmentBytes> segments) {
    Chain chain;
    struct Found {
        std::uint32_t segment = 0;
        std::vector<Group> groups;
    };
    std::map<std::uint64_t, Found> by_epoch;
    std::vector<std::uint64_t> damaged;
    std::uint64_t oldest = 0;
    for (const SegmentBytes& segment : segments) {
        SegmentGroups found = groups_of(segment.bytes);
        if (found.groups.empty()) {
            continue;
        }
        const std::uint64_t epoch = found.groups.front().header.epoch;
        for (const Group& group : found.groups) {
            oldest = std::max(oldest, group.header.oldest);
            chain.next_record =
                std::max(chain.next_record, group.header.first + group.header.records);
        }
        chain.next_epoch = std::max(chain.next_epoch, epoch + 1);
        if (found.damaged ||
            !by_epoch.try_emplace(epoch, Found{segment.number, std::move(found.groups)}).second) {
            damaged.push_back(epoch);
        }
    }
    chain.damaged = std::ranges::any_of(damaged, [&](std::uint64_t one) { return one >= oldest; });
    // One that is needed was used, so that nothing but damage makes a gap.
    std::uint64_t epoch = oldest;
    for (auto& [number, found] : by_epoch) {
        if (number < oldest) {
            continue;  // used again, perhaps in part: nothing of it is needed
        }
        const std::uint64_t first = found.groups.front().header.first;
        const bool follows =
            chain.groups.empty() ||
            first == chain.groups.back().header.first + chain.groups.back().header.records;
        chain.damaged = chain.damaged || number != epoch || !follows;
        epoch = number + 1;
        chain.segments.push_back(found.segment);
        std::ranges::move(found.groups, std::back_inserter(chain.groups));
    }
    return chain;
}

}  // namespace forebay::pool::journal
