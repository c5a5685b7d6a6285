// Searches a skip list that may change meanwhile: every node number is checked before it is
// followed.
#include "pool/protocol/search.hpp"

#include "foundation/base/atomics.hpp"

#include <algorithm>

namespace forebay::pool {

std::int64_t end_of(const ExtentNode& node) noexcept {
    std::int64_t end = 0;
    const bool over =
        __builtin_add_overflow(node.begin.load(relaxed), node.length.load(relaxed), &end);
    return over ? node.begin.load(relaxed) : end;
}

Deposit part_of(const Deposit& deposit, const Extent& range) noexcept {
    Deposit part = deposit;
    part.extent = intersection(deposit.extent, range);
    if (!part.extent.empty()) {
        part.position += (part.extent.begin - deposit.extent.begin).size();
    }
    return part;
}

DepositSearch find(const Directory& directory, const FileSlot& file, const Extent& range,
                   std::span<Deposit> found) noexcept {
    DepositSearch search;
    search.version = file.version.load(std::memory_order_acquire);
    if (search.version % 2 != 0) {
        return search;
    }
    std::size_t steps = extents_max;  // only a list that changed meanwhile can take more
    const Heads* links = &file.heads;
    for (std::size_t level = levels; level-- > 0;) {
        std::uint32_t number = (*links)[level].load(relaxed);
        while (number != no_extent && number < extents_max && steps > 0 &&
               end_of(directory.extents[number]) <= range.begin.bytes()) {
            links = &directory.extents[number].next;
            number = (*links)[level].load(relaxed);
            --steps;
        }
    }
    std::uint32_t number = (*links)[0].load(relaxed);
    search.seen = SearchResult::whole;
    while (number != no_extent && number < extents_max && steps > 0) {
        const ExtentNode& node = directory.extents[number];
        const std::int64_t begin = std::max(node.begin.load(relaxed), range.begin.bytes());
        const std::int64_t end = std::min(end_of(node), range.end().bytes());
        if (node.begin.load(relaxed) >= range.end().bytes()) {
            break;
        }
        if (begin >= end) {
            search.seen = SearchResult::changed;
            return search;
        }
        if (search.found == found.size()) {
            search.seen = SearchResult::more;
            break;
        }
        const std::int64_t skipped = begin - node.begin.load(relaxed);
        found[search.found++] = {
            .extent = {Offset{begin}, Length{end - begin}},
            .client = node.client.load(relaxed),
            .position = node.position.load(relaxed) + static_cast<std::uint64_t>(skipped),
            .time_ns = node.time_ns.load(relaxed)};
        number = node.next[0].load(relaxed);
        --steps;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (file.version.load(relaxed) != search.version || steps == 0) {
        search.seen = SearchResult::changed;
    }
    return search;
}

}  // namespace forebay::pool
