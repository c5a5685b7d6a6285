// Formats messages to the user in buffers on the stack and writes them to standard error.
#include "pool/capture/connection/user_message.hpp"

#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace forebay::capture {

namespace {

constexpr int standard_error = 2;

bool is_shown_as_it_is(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t bytes = shown_in_front(text);
        if (bytes == 0) {
            return false;
        }
        text.remove_prefix(bytes);
    }
    return true;
}

// Writes in pieces of 256 bytes, because a signal handler's stack may be small.
void write_escaped(std::string_view text) noexcept {
    std::array<char, 256> out;
    std::size_t filled = 0;
    while (!text.empty()) {
        const std::size_t shown = shown_in_front(text);
        const EscapedCharacter escape = escape_of(text.front());
        const std::string_view one =
            shown == 0 ? escape.view() : std::string_view{text.data(), shown};
        if (filled + one.size() > out.size()) {
            kernel::write(standard_error, out.data(), filled);
            filled = 0;
        }
        std::memcpy(out.data() + filled, one.data(), one.size());
        filled += one.size();
        text.remove_prefix(shown == 0 ? 1 : shown);
    }
    kernel::write(standard_error, out.data(), filled);
}

}  // namespace

void report_problem(const char* problem, const char* why, const char* next) noexcept {
    constexpr std::size_t text_max = 1024;
    const int before = errno;
    std::array<char, text_max> text;
    const int bytes =
        std::snprintf(text.data(), text.size(), "forebay: %s (%s). %s\n", problem, why, next);
    if (bytes > 0) {
        const std::size_t length = std::min(static_cast<std::size_t>(bytes), text.size() - 1);
        if (is_shown_as_it_is({text.data(), length - 1})) {
            kernel::write(standard_error, text.data(), length);
        } else {
            write_escaped({text.data(), length - 1});
            kernel::write(standard_error, "\n", 1);
        }
    }
    errno = before;
}

}  // namespace forebay::capture
