// Binary units, for numbers in code; foundation/base/byte_size.hpp reads what people write.
#pragma once

#include <cstdint>

namespace forebay {

inline constexpr std::int64_t kib = std::int64_t{1} << 10;
inline constexpr std::int64_t mib = std::int64_t{1} << 20;

}  // namespace forebay
