// Converts a layout to what the engine plans with: round-robin stripes, one rule for the whole
// file. A composite layout has several rules, so one of its components is chosen to represent the
// file.
#pragma once

#include "foundation/base/stripes.hpp"
#include "storage/layout/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::layout {

// The component that represents a file of `file_bytes` bytes; null if no component holds data.
//
// In a mirrored file it belongs to the mirror that writes go to: the preferred one, else the first
// one that is not stale. In that mirror it is the component with most of the bytes. For an empty
// file it is the last component, since the file is about to be written, and a large file will have
// most of its bytes there.
[[nodiscard]] const Component* chosen(const FileLayout& layout, std::int64_t file_bytes) noexcept;

// Stripe size and number of targets for the engine. A CephFS file with a stripe count of 1 moves on
// to another object after `object_bytes`, which is then the stripe size. An unknown count is taken
// as 1.
[[nodiscard]] FileStripes stripes_of(const FileLayout& layout, std::int64_t file_bytes) noexcept;

// How `layout`, read back from a new file, differs from the wanted one: "1 stripe instead of 3".
[[nodiscard]] std::optional<std::string> difference(const WantedLayout& wanted,
                                                    const FileLayout& layout);

}  // namespace forebay::layout
