// How a client finds a file's deposits while the daemon changes their list (extents.hpp). Needs
// nothing of the C++ library at run time: it is part of what is loaded into programs.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

// A run of a file's bytes and where they lie: in the log of `client`, from `position` on.
struct Deposit {
    Extent extent;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    std::int64_t time_ns = 0;  // when the oldest of it was written

    bool operator==(const Deposit&) const noexcept = default;
};

// The part of a deposit that lies in `range`; empty where there is none.
[[nodiscard]] Deposit part_of(const Deposit& deposit, const Extent& range) noexcept;

// Where an extent ends; its beginning, where its length makes no sense.
[[nodiscard]] std::int64_t end_of(const ExtentNode& node) noexcept;

// A reader's view of the file at one moment.
enum class SearchResult {
    whole,    // `found` holds all of the range's deposits, in order
    more,     // … the first of them: `found` is too small
    changed,  // the daemon changed the list meanwhile: look again
};
struct DepositSearch {
    SearchResult seen = SearchResult::changed;
    std::size_t found = 0;
    std::uint32_t version = 0;  // to compare once the bytes are copied
};
// Safe on memory that changes, and on what looks like a list but is none.
[[nodiscard]] DepositSearch find(const Directory& directory, const FileSlot& file,
                                 const Extent& range, std::span<Deposit> found) noexcept;

}  // namespace forebay::pool
