// See message.hpp.
#include "entry/posix/message.hpp"

#include "kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace forebay::entry {

void say(const char* problem, const char* why, const char* next) noexcept {
    constexpr int standard_error = 2;
    constexpr std::size_t text_max = 1024;
    const int before = errno;
    std::array<char, text_max> text;
    const int bytes =
        std::snprintf(text.data(), text.size(), "forebay: %s (%s). %s\n", problem, why, next);
    if (bytes > 0) {
        kernel::write(standard_error, text.data(),
                      std::min(static_cast<std::size_t>(bytes), text.size() - 1));
    }
    errno = before;
}

}  // namespace forebay::entry
