// The number in an error, for callers that get no message.
#pragma once

#include "foundation/base/result.hpp"

#include <cerrno>

namespace forebay {

// The errno of an error; EIO where it has none.
[[nodiscard]] inline int errno_of(const Error& error) noexcept {
    return error.system != 0 ? error.system : EIO;
}

}  // namespace forebay
