// CephFS's layouts as text: the virtual extended attributes ceph.file.layout and ceph.dir.layout,
// "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data".
// Source: docs.ceph.com, "File layouts".
#pragma once

#include "foundation/base/result.hpp"
#include "storage/layout/layout.hpp"

#include <string>
#include <string_view>

namespace forebay::layout {

constexpr const char* ceph_file_attribute = "ceph.file.layout";
constexpr const char* ceph_directory_attribute = "ceph.dir.layout";
constexpr const char* ceph_entries_attribute = "ceph.dir.entries";  // every directory has it

// The layout that CephFS gives files by default.
[[nodiscard]] FileLayout ceph_default();

// Error: a field is missing, or no number.
[[nodiscard]] Result<FileLayout> parse_ceph(std::string_view text);

// The text that changes `now` into `wanted`. Objects keep their size where the stripes fit into
// them, else become the next size that they do. Error: nothing that CephFS takes (stripes are
// multiples of 64 KiB, at most 128 MiB, the size of an object above which OSDs refuse writes).
[[nodiscard]] Result<std::string> encode_ceph(const WantedLayout& wanted, const FileLayout& now);

}  // namespace forebay::layout
