// A layout as JSON: schema/layout.md, read by `forebay layout` and `forebay doctor`.
#pragma once

#include "storage/layout/files/files.hpp"

#include <string>

namespace forebay::apps {

// One line without its end. `change`: what came of setting it, null where it was only asked.
[[nodiscard]] std::string to_json(const std::string& path, const layout::DescribedPath& described,
                                  const layout::LayoutChange* change);

[[nodiscard]] std::string to_json(const std::string& path, const Error& error);

}  // namespace forebay::apps
