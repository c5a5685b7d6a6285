// Decodes and encodes Lustre's layouts, the extended attribute `lustre.lov`, without Lustre's
// headers. Format: lov_user_md_v1, _v3, lov_comp_md_v1 and lov_foreign_md of lustre_user.h (Lustre
// 1.8 to 2.16), little-endian; the diagrams are in lustre.cpp.
#pragma once

#include "foundation/base/result.hpp"
#include "storage/layout/layout.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace forebay::layout {

constexpr const char* lustre_attribute = "lustre.lov";

// Parses the attribute of a file, or of a directory (the default of its new files). Error: the
// value is truncated, contradictory, or of an unknown version.
[[nodiscard]] Result<FileLayout> parse_lustre(std::span<const std::byte> value);

// The attribute's value that requests `wanted`. Error: Lustre would refuse it (stripe sizes are
// multiples of 64 KiB below 4 GiB, since the field has 32 bits; pool names have at most 15
// characters).
[[nodiscard]] Result<std::vector<std::byte>> encode_lustre(const WantedLayout& wanted);

}  // namespace forebay::layout
