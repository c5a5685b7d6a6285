// Packs a rank's elements in the order of the file, without the halo, and unpacks what was read.
#include "output/plan/local_array.hpp"

#include "foundation/base/contracts.hpp"

#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace forebay::output {

Result<LocalArray> LocalArray::with_halo(std::span<const std::int64_t> count,
                                         std::span<const std::int64_t> halo) {
    expects(count.size() == halo.size(), "a halo has the dimensions of its patch");
    LocalArray made;
    ArrayBox inner{{halo.begin(), halo.end()}, {count.begin(), count.end()}};
    std::vector<std::int64_t> shape;
    for (std::size_t i = 0; i < count.size(); ++i) {
        constexpr std::int64_t halo_max = std::int64_t{1} << 30;
        if (halo[i] < 0 || halo[i] > halo_max) {
            return failure(Error{ErrorCode::argument, 0,
                                 fmt::format("the halo of dimension {} is {} elements wide (it may "
                                             "be 0 to {}). Correct the halo.",
                                             i, halo[i], halo_max)});
        }
        shape.push_back(count[i] + 2 * halo[i]);
    }
    if (inner.empty()) {
        return made;
    }
    const Result<std::int64_t> elements = elements_of(shape);
    if (!elements) {
        return tl::unexpected(elements.error());
    }
    made.elements_ = *elements;
    const Result<RankPatch> patch = RankPatch::box(shape, inner);
    ensures(patch.has_value(), "a patch lies within its halo");
    made.inner_ = *patch;
    return made;
}

LocalArray LocalArray::mapped(std::int64_t elements, std::vector<std::int64_t> order) {
    LocalArray made;
    made.mapped_ = true;
    made.elements_ = order.empty() ? 0 : elements;
    made.order_ = std::move(order);
    return made;
}

void LocalArray::pack(const std::byte* array, std::size_t element_bytes,
                      std::span<std::byte> packed) const {
    expects(packed.size() == static_cast<std::size_t>(packed_elements()) * element_bytes,
            "room for the packed elements");
    const auto bytes = static_cast<std::int64_t>(element_bytes);
    if (mapped_) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            std::memcpy(&packed[i * element_bytes], array + order_[i] * bytes, element_bytes);
        }
        return;
    }
    inner_.each_run({0, elements_}, [&](const ArrayRun& run) {
        std::memcpy(packed.data() + run.packed * bytes, array + run.at * bytes,
                    static_cast<std::size_t>(run.length * bytes));
    });
}

void LocalArray::unpack(std::span<const std::byte> packed, std::size_t element_bytes,
                        std::byte* array) const {
    expects(packed.size() == static_cast<std::size_t>(packed_elements()) * element_bytes,
            "all of the packed elements");
    const auto bytes = static_cast<std::int64_t>(element_bytes);
    if (mapped_) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            std::memcpy(array + order_[i] * bytes, &packed[i * element_bytes], element_bytes);
        }
        return;
    }
    inner_.each_run({0, elements_}, [&](const ArrayRun& run) {
        std::memcpy(array + run.at * bytes, packed.data() + run.packed * bytes,
                    static_cast<std::size_t>(run.length * bytes));
    });
}

}  // namespace forebay::output
