// A layout as a line of JSON (schema/layout.md), which `forebay layout` and `forebay doctor`
// decode.
#pragma once

#include "storage/layout/files/files.hpp"

#include <string>

namespace forebay::apps {

// One line without a newline. `change` is the result of setting the layout; null if it was only
// read.
[[nodiscard]] std::string to_json(const std::string& path, const layout::DescribedPath& described,
                                  const layout::LayoutChange* change);

[[nodiscard]] std::string to_json(const std::string& path, const Error& error);

}  // namespace forebay::apps
