// Escapes text for terminals (as `ls -b` does) and quotes words for shells.
#include "foundation/base/printable.hpp"

namespace forebay {

namespace {

// Escapes characters that may not be shown. `more` lists printable characters that get a backslash
// in front, too; `keeps_lines` leaves newlines as they are.
std::string escaped(std::string_view text, std::string_view more, bool keeps_lines = false) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t bytes = shown_in_front(text);
        if (bytes == 0 && keeps_lines && text.front() == '\n') {
            bytes = 1;
        }
        if (bytes == 0) {
            out += escape_of(text.front()).view();
            bytes = 1;
        } else {
            if (more.find(text.front()) != std::string_view::npos) {
                out += '\\';
            }
            out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return out;
}

bool is_plain(char one) noexcept {
    constexpr std::string_view others{"_-./:=@%+,"};
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') ||
           others.find(one) != std::string_view::npos;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, {}); }

std::string printable_lines(std::string_view text) { return escaped(text, {}, true); }

std::string printable_name(std::string_view name) { return escaped(name, " \\"); }

std::string shell_word(std::string_view word) {
    bool plain = !word.empty();
    bool shown = true;
    for (std::string_view rest = word; !rest.empty();) {
        const std::size_t bytes = shown_in_front(rest);
        shown = shown && bytes > 0;
        plain = plain && is_plain(rest.front());
        rest.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    if (plain) {
        return std::string{word};
    }
    if (!shown) {
        return "$'" + escaped(word, "\\'") + "'";
    }
    std::string out{"'"};
    for (const char one : word) {
        out += one == '\'' ? std::string{"'\"'\"'"} : std::string{one};
    }
    return out + "'";
}

}  // namespace forebay
