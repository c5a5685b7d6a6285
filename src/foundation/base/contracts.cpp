// The one place where a broken contract ends the process. A program's signal handler may call it,
// so it is async-signal-safe: it neither allocates nor takes a lock, and so uses no C stream.
#include "foundation/base/contracts.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace forebay {

void contract_failed(const char* kind, const char* what,
                     const std::source_location& where) noexcept {
    constexpr int standard_error = 2;
    constexpr std::size_t text_max = 1024;
    std::array<char, text_max> text;
    const int bytes = std::snprintf(
        text.data(), text.size(),
        "forebay: %s broken: %s (%s:%u in %s). This is a defect of Forebay: please report "
        "it; FOREBAY_ENABLED=false runs the program without it.\n",
        kind, what, where.file_name(), where.line(), where.function_name());
    if (bytes > 0) {
        kernel::write(standard_error, text.data(),
                      std::min(static_cast<std::size_t>(bytes), text.size() - 1));
    }
    std::abort();
}

}  // namespace forebay
