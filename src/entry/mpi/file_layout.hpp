// Where a file's bytes lie, as its file system says. Lustre is asked through an extended attribute,
// without its headers; anything else is one target.
#pragma once

#include "plan/tuning.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace forebay::entry {

[[nodiscard]] plan::Layout layout_of_file(const std::string& path);

// Decodes the value of Lustre's attribute "lustre.lov" (lov_user_md, little-endian): plain layouts
// of version 1 and 3. nullopt for composite and unknown ones.
[[nodiscard]] std::optional<plan::Layout> parse_lustre_lov(std::span<const std::byte> value);

}  // namespace forebay::entry
