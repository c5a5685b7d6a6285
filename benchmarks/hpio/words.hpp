// Helpers of the parsers of HPIO's command line and of pattern texts.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay::hpio {

using Numbers = std::vector<std::int64_t>;

[[nodiscard]] inline tl::unexpected<Error> wrong(std::string message) {
    return failure({.code = ErrorCode::argument, .message = std::move(message)});
}

}  // namespace forebay::hpio
