// Binary units for constants in code; foundation/base/byte_size.hpp parses sizes that users write.
#pragma once

#include <cstdint>

namespace forebay {

inline constexpr std::int64_t kib = std::int64_t{1} << 10;
inline constexpr std::int64_t mib = std::int64_t{1} << 20;

}  // namespace forebay
