// Recognises files that the loader or libc read by internal calls, which are not captured. Such a
// file is drained when it is closed, because the loader of the next program runs before this
// library does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace forebay::capture {

inline constexpr std::size_t magic_bytes = 4;
using Magic = std::array<unsigned char, magic_bytes>;

// Whether a file begins with the magic number of a library (ELF), of a time zone, or of a message
// catalogue of gettext or catgets, in either byte order. A shorter beginning that may become one
// counts, too.
[[nodiscard]] inline bool is_read_by_libc(std::span<const std::byte> begin) noexcept {
    constexpr Magic kinds[] = {{0x7f, 'E', 'L', 'F'},    {'T', 'Z', 'i', 'f'},
                               {0xde, 0x12, 0x04, 0x95}, {0x95, 0x04, 0x12, 0xde},
                               {0xde, 0x08, 0x04, 0x96}, {0x96, 0x04, 0x08, 0xde}};
    const std::size_t bytes = std::min(begin.size(), magic_bytes);
    return bytes > 0 && std::ranges::any_of(kinds, [&](const Magic& kind) noexcept {
               return std::memcmp(begin.data(), kind.data(), bytes) == 0;
           });
}

}  // namespace forebay::capture
