// CephFS's file layouts as text: the virtual extended attributes ceph.file.layout and
// ceph.dir.layout, "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data".
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

// Error: a field is missing or not a number.
[[nodiscard]] Result<FileLayout> parse_ceph(std::string_view text);

// The attribute's value that changes `now` into `wanted`. The object size is rounded up to a
// multiple of the stripe unit. Error: CephFS would refuse it (stripe units are multiples of 64 KiB,
// at most 128 MiB: OSDs refuse writes to larger objects).
[[nodiscard]] Result<std::string> encode_ceph(const WantedLayout& wanted, const FileLayout& now);

}  // namespace forebay::layout
