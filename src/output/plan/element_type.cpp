// Sizes of the types, and netCDF's fill values for them.
#include "output/plan/element_type.hpp"

#include <cstring>

namespace forebay::output {
namespace {

template <class Number>
FillValue fill_of(Number number) noexcept {
    FillValue made{};
    std::memcpy(made.data(), &number, sizeof number);
    return made;
}

}  // namespace

std::optional<ElementType> element_type_of(int code) noexcept {
    if (code < static_cast<int>(ElementType::int8) ||
        code > static_cast<int>(ElementType::real64)) {
        return std::nullopt;
    }
    return static_cast<ElementType>(code);
}

std::size_t bytes_of(ElementType type) noexcept {
    switch (type) {
        case ElementType::int8: return 1;
        case ElementType::int16: return 2;
        case ElementType::int32:
        case ElementType::real32: return 4;
        default: return 8;
    }
}

FillValue fill_value_of(ElementType type) noexcept {
    switch (type) {
        case ElementType::int8: return fill_of(std::int8_t{-127});
        case ElementType::int16: return fill_of(std::int16_t{-32767});
        case ElementType::int32: return fill_of(std::int32_t{-2147483647});
        case ElementType::int64: return fill_of(std::int64_t{-9223372036854775806});
        case ElementType::real32: return fill_of(9.9692099683868690e+36F);
        default: return fill_of(9.9692099683868690e+36);
    }
}

}  // namespace forebay::output
