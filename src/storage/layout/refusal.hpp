// Errors for a layout that cannot be decoded, and for one that the file system would refuse.
#pragma once

#include "foundation/base/result.hpp"

#include <fmt/format.h>
#include <string_view>

namespace forebay::layout {

struct LayoutRefusal {
    const char* system;     // "Lustre"
    const char* attribute;  // the attribute that holds a file's layout
    const char* command;    // the command that shows it

    [[nodiscard]] tl::unexpected<Error> unreadable(std::string_view why) const {
        return failure({ErrorCode::unsupported, 0,
                        fmt::format("cannot read the layout ({} {}). The file counts as one "
                                    "target; see what `{}` says.",
                                    attribute, why, command)});
    }
    [[nodiscard]] tl::unexpected<Error> impossible(std::string_view why, const char* next) const {
        return failure({ErrorCode::argument, 0,
                        fmt::format("cannot make such a {} layout ({}). {}", system, why, next)});
    }
};

}  // namespace forebay::layout
