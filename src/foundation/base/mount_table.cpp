// Decodes octal escapes.
#include "foundation/base/mount_table.hpp"

#include <algorithm>
#include <cstddef>

namespace forebay {

namespace {

constexpr bool is_octal(char digit) noexcept { return digit >= '0' && digit <= '7'; }

}  // namespace

std::string unescaped_mount_field(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view code = text.substr(at, 4);
        if (code.size() == 4 && code[0] == '\\' && std::ranges::all_of(code.substr(1), is_octal)) {
            plain += static_cast<char>((code[1] - '0') * 64 + (code[2] - '0') * 8 + code[3] - '0');
            at += 3;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

}  // namespace forebay
