// The engine's view of a layout: stripes that go round over targets, one rule for the whole file.
// Layouts of several components are not of this kind, so one component has to stand for all.
#pragma once

#include "foundation/base/stripes.hpp"
#include "storage/layout/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::layout {

// The component that stands for all, for a file of `file_bytes`; null where none is of use.
//
// In a mirrored file it lies in the copy that is written to: the preferred one, else the first that
// is not stale. There, it is the component that holds most of the bytes; a file without bytes is
// about to be written, and a large one will lie mostly in the last component, so it is that.
[[nodiscard]] const Component* chosen(const FileLayout& layout, std::int64_t file_bytes) noexcept;

// Bytes after which the next target is at work, and targets. A CephFS file of one stripe changes
// its object, not its target, after `object_bytes`. Counts that are not known count as one.
[[nodiscard]] FileStripes stripes_of(const FileLayout& layout, std::int64_t file_bytes) noexcept;

// How `layout`, read back from a new file, differs from what was wanted: "1 stripe instead of 3".
[[nodiscard]] std::optional<std::string> difference(const WantedLayout& wanted,
                                                    const FileLayout& layout);

}  // namespace forebay::layout
