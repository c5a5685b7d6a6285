// The one place where a broken contract ends the process.
#include "foundation/base/contracts.hpp"

#include <cstdio>
#include <cstdlib>

namespace forebay {

void contract_failed(const char* kind, const char* what,
                     const std::source_location& where) noexcept {
    std::fprintf(stderr,
                 "forebay: %s broken: %s (%s:%u in %s). This is a defect of Forebay: please report "
                 "it; FOREBAY_ENABLED=false runs the program without it.\n",
                 kind, what, where.file_name(), where.line(), where.function_name());
    std::abort();
}

}  // namespace forebay
