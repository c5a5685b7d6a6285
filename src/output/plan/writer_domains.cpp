// Divides an array among writers, and their domains into windows; finds elements that two ranks
// both have.
#include "output/plan/writer_domains.hpp"

#include "foundation/base/contracts.hpp"

#include <tuple>

namespace forebay::output {

WriterDomains::WriterDomains(std::int64_t elements, std::int32_t writers_max,
                             std::int64_t domain_min)
    : elements_(elements) {
    expects(elements > 0 && writers_max > 0 && domain_min > 0, "there is something to divide");
    domain_ = std::max((elements - 1) / writers_max + 1, std::min(domain_min, elements));
    writers_ = static_cast<std::int32_t>((elements - 1) / domain_ + 1);
    ensures(writers_ <= writers_max, "no more writers than there may be");
}

ElementRange WriterDomains::domain(std::int32_t writer) const noexcept {
    const std::int64_t begin = std::min(elements_, writer * domain_);
    return {begin, std::min(elements_, begin + domain_)};
}

std::int64_t WriterDomains::rounds(std::int64_t window) const noexcept {
    return (domain_ - 1) / window + 1;
}

ElementRange WriterDomains::window(std::int32_t writer, std::int64_t round,
                                   std::int64_t window) const noexcept {
    const ElementRange all = domain(writer);
    const std::int64_t begin = std::min(all.end, all.begin + round * window);
    return {begin, std::min(all.end, begin + window)};
}

std::vector<Rank> spread_writers(std::int32_t ranks, std::int32_t writers) {
    expects(0 < writers && writers <= ranks, "writers are ranks");
    std::vector<Rank> made;
    for (std::int64_t i = 0; i < writers; ++i) {
        made.emplace_back(static_cast<std::int32_t>(i * ranks / writers));
    }
    return made;
}

std::vector<ArrayBox> boxes_of(std::span<const std::int64_t> shape, const ElementRange& range) {
    std::vector<ArrayBox> made;
    std::int64_t at = range.begin;
    while (at < range.end) {
        // The slowest dimension of which a whole slice begins here and fits.
        std::int64_t slice = 1;
        std::size_t dimension = shape.size() - 1;
        while (dimension > 0 && at % (slice * shape[dimension]) == 0 &&
               range.end - at >= slice * shape[dimension]) {
            slice *= shape[dimension];
            --dimension;
        }
        ArrayBox box{std::vector<std::int64_t>(shape.size()), {shape.begin(), shape.end()}};
        std::int64_t left = at / slice;
        for (std::size_t i = dimension + 1; i-- > 0;) {
            box.start[i] = left % shape[i];
            box.count[i] = 1;
            left /= shape[i];
        }
        box.count[dimension] =
            std::min((range.end - at) / slice, shape[dimension] - box.start[dimension]);
        at += box.count[dimension] * slice;
        made.push_back(std::move(box));
    }
    return made;
}

std::optional<Rank> overlapping(std::span<const ArrayBox> boxes, Rank rank) {
    const ArrayBox& mine = boxes[rank.position()];
    if (mine.empty()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const ArrayBox& other = boxes[i];
        bool meets = i != rank.position() && !other.empty();
        for (std::size_t d = 0; meets && d < mine.start.size(); ++d) {
            meets = mine.start[d] < other.start[d] + other.count[d] &&
                    other.start[d] < mine.start[d] + mine.count[d];
        }
        if (meets) {
            return Rank{static_cast<std::int32_t>(i)};
        }
    }
    return std::nullopt;
}

std::optional<SharedElement> shared_element(std::span<const RankPatch> patches,
                                            const ElementRange& range) {
    struct OwnedRun {
        std::int64_t begin;
        std::int64_t end;
        std::int32_t rank;
    };
    std::vector<OwnedRun> all;
    for (std::size_t i = 0; i < patches.size(); ++i) {
        patches[i].each_run(range, [&](const ArrayRun& run) {
            all.push_back({run.at, run.at + run.length, static_cast<std::int32_t>(i)});
        });
    }
    std::ranges::sort(all, {}, [](const OwnedRun& run) { return std::tuple{run.begin, run.rank}; });
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].begin < all[i - 1].end) {
            return SharedElement{all[i].begin, Rank{all[i - 1].rank}, Rank{all[i].rank}};
        }
    }
    return std::nullopt;
}

}  // namespace forebay::output
