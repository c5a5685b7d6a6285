// Lustre's layouts as bytes: the extended attribute `lustre.lov`, read and made without Lustre's
// headers. Format: lov_user_md_v1, _v3, lov_comp_md_v1 and lov_foreign_md of lustre_user.h
// (Lustre 1.8 to 2.16), little-endian; the diagrams are in lustre.cpp.
#pragma once

#include "foundation/base/result.hpp"
#include "storage/layout/layout.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace forebay::layout {

constexpr const char* lustre_attribute = "lustre.lov";

// The value of a file's attribute, or of a directory's: there it is the default of new files.
// Error: truncated, contradictory, or of a version that is not known.
[[nodiscard]] Result<FileLayout> parse_lustre(std::span<const std::byte> value);

// The value that asks for `wanted`. Error: nothing that Lustre takes (stripes are multiples of
// 64 KiB, at most 4 GiB; pools have at most 15 characters).
[[nodiscard]] Result<std::vector<std::byte>> encode_lustre(const WantedLayout& wanted);

}  // namespace forebay::layout
