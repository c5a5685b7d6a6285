// RAID-0 striping of a file over its objects. A file of n stripes has n objects, each on a target
// of its own: stripe i of the file is stripe i / n of object i mod n.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay::adapters {

struct ObjectStriping {
    std::int64_t stripe_bytes = 1 << 20;
    std::int32_t objects = 1;
};

// Consecutive bytes of one object.
struct ObjectPiece {
    std::int32_t object = 0;
    std::int64_t at = 0;  // in the object
    std::int64_t bytes = 0;

    [[nodiscard]] std::int64_t end() const noexcept { return at + bytes; }
    bool operator==(const ObjectPiece&) const noexcept = default;
};

// A range of a file, whose `bytes` may be an upper bound.
struct FileRun {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

// The first bytes of `run` that are consecutive in an object, up to the next multiple of `unit`
// there.
[[nodiscard]] constexpr ObjectPiece first_piece(const ObjectStriping& striping, const FileRun& run,
                                                std::int64_t unit) noexcept {
    const std::int64_t stripe = run.offset / striping.stripe_bytes;
    const std::int64_t inside = run.offset % striping.stripe_bytes;
    ObjectPiece piece;
    piece.object = static_cast<std::int32_t>(stripe % striping.objects);
    piece.at = stripe / striping.objects * striping.stripe_bytes + inside;
    piece.bytes = std::min({run.bytes, striping.stripe_bytes - inside, unit - piece.at % unit});
    return piece;
}

}  // namespace forebay::adapters
