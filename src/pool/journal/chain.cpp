#include "pool/journal/chain.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace forebay::pool::journal {

Chain chain_of(std::span<const SegmentBytes> segments) {
    Chain chain;
    std::map<std::uint64_t, std::vector<Group>> by_epoch;
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
        if (found.damaged || !by_epoch.try_emplace(epoch, std::move(found.groups)).second) {
            damaged.push_back(epoch);
        }
    }
    chain.damaged = std::ranges::any_of(damaged, [&](std::uint64_t one) { return one >= oldest; });
    // One that is needed was used, so that nothing but damage makes a gap.
    std::uint64_t epoch = oldest;
    for (auto& [found, groups] : by_epoch) {
        if (found < oldest) {
            continue;  // used again, perhaps in part: nothing of it is needed
        }
        const bool follows =
            chain.groups.empty() || groups.front().header.first ==
                                        chain.groups.back().header.first +
                                            chain.groups.back().header.records;
        chain.damaged = chain.damaged || found != epoch || !follows;
        epoch = found + 1;
        std::ranges::move(groups, std::back_inserter(chain.groups));
    }
    return chain;
}

}  // namespace forebay::pool::journal
