// Escapes file names for messages as `ls -b` does. A name may hold any byte but '/' and zero, so it
// could contain terminal control sequences or imitate a line of ours. The first part is header-only
// and needs no C++ library at run time, because the preloaded libraries use it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace forebay {

namespace printable_detail {

constexpr unsigned byte_at(std::string_view text, std::size_t at) noexcept {
    return static_cast<unsigned char>(text.data()[at]);
}

// The length in bytes of the UTF-8 character whose first byte is `first`; 0 if none begins so.
constexpr std::size_t bytes_of_character(unsigned first) noexcept {
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return 3;
    }
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// Whether a character must not reach a terminal: C0 and C1 controls, DEL, line and paragraph
// separators, bidirectional controls, and invisible characters.
constexpr bool steers(char32_t one) noexcept {
    return one < 0x20 || (one >= 0x7F && one < 0xA0) || one == 0xAD || one == 0x61C ||
           (one >= 0x200B && one <= 0x200F) || (one >= 0x2028 && one <= 0x202E) ||
           (one >= 0x2060 && one <= 0x206F) || one == 0xFEFF || (one >= 0xFFF9 && one <= 0xFFFB) ||
           (one >= 0xE0000 && one <= 0xE0FFF);
}

constexpr bool too_long_or_none(char32_t one, std::size_t bytes) noexcept {
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    return one < least[bytes] || one > 0x10FFFF || (one >= 0xD800 && one <= 0xDFFF);
}

}  // namespace printable_detail

// The length in bytes of the first character of `text` if it can be shown; 0 if the first byte has
// to be escaped.
constexpr std::size_t shown_in_front(std::string_view text) noexcept {
    namespace detail = printable_detail;
    const std::size_t bytes =
        text.empty() ? 0 : detail::bytes_of_character(detail::byte_at(text, 0));
    if (bytes == 0 || bytes > text.size()) {
        return 0;
    }
    constexpr std::array<unsigned, 5> mask{0, 0x7F, 0x1F, 0x0F, 0x07};
    char32_t one = detail::byte_at(text, 0) & mask[bytes];
    for (std::size_t i = 1; i < bytes; ++i) {
        const unsigned more = detail::byte_at(text, i);
        if ((more & 0xC0U) != 0x80U) {
            return 0;
        }
        one = one << 6U | (more & 0x3FU);
    }
    return detail::too_long_or_none(one, bytes) || detail::steers(one) ? 0 : bytes;
}

struct EscapedCharacter {
    std::array<char, 4> text{};
    std::size_t bytes = 0;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text.data(), bytes}; }
};

// The escape of a byte: `\n` and its like where C has a letter for it, else octal (`\033`).
constexpr EscapedCharacter escape_of(char byte) noexcept {
    constexpr std::array<std::array<char, 2>, 7> letters{{{'\a', 'a'},
                                                          {'\b', 'b'},
                                                          {'\f', 'f'},
                                                          {'\n', 'n'},
                                                          {'\r', 'r'},
                                                          {'\t', 't'},
                                                          {'\v', 'v'}}};
    for (const auto& [one, letter] : letters) {
        if (one == byte) {
            return {{'\\', letter}, 2};
        }
    }
    const unsigned value = static_cast<unsigned char>(byte);
    const auto digit = [&](unsigned shift) {
        return static_cast<char>('0' + (value >> shift & 7U));
    };
    return {{'\\', digit(6), digit(3), digit(0)}, 4};
}

// `text` with everything escaped that could control a terminal, newlines included.
[[nodiscard]] std::string printable(std::string_view text);
// As printable(), but newlines stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
// A file name as `ls -b` shows it: blanks and backslashes are escaped, too, so that the end of the
// name and its bytes are unambiguous.
[[nodiscard]] std::string printable_name(std::string_view name);
// `word` quoted so that a shell reads it as one word.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace forebay
