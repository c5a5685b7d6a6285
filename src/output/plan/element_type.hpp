// The types of elements that arrays in files may have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace forebay::output {

// The values are those of enum fbo_type in include/forebay_output.h.
enum class ElementType : std::uint8_t {
    int8 = 1,
    int16 = 2,
    int32 = 3,
    int64 = 4,
    real32 = 5,
    real64 = 6,
};

[[nodiscard]] std::optional<ElementType> element_type_of(int code) noexcept;
[[nodiscard]] std::size_t bytes_of(ElementType type) noexcept;

// The value of an element that no rank gives: netCDF's default fill value of the type, in the first
// bytes_of(type) bytes.
using FillValue = std::array<std::byte, 8>;
[[nodiscard]] FillValue fill_value_of(ElementType type) noexcept;

}  // namespace forebay::output
