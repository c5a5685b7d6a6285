// Saturating products of sizes that a user may choose freely: a result that exceeds 64 bits is
// INT64_MAX. Arguments must not be negative. Sums: saturated_sum() of foundation/base/units.hpp.
#pragma once

#include <cstdint>
#include <limits>

namespace forebay::measure {

template <class... More>
[[nodiscard]] constexpr std::int64_t saturated_product(std::int64_t one, std::int64_t other,
                                                       More... more) noexcept {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(one, other, &product)) {
        // A later factor of 0 makes the whole product 0, even after an overflow.
        product = ((more != 0) && ...) ? std::numeric_limits<std::int64_t>::max() : 0;
        return product;
    }
    if constexpr (sizeof...(more) > 0) {
        return saturated_product(product, more...);
    } else {
        return product;
    }
}

}  // namespace forebay::measure
