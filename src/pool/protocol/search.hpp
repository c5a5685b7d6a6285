// How a client finds the deposits of a file in the directory, without a lock, while the daemon
// changes their list (extents.hpp). This code is loaded into programs, and so needs nothing of the
// C++ library at run time.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

// Consecutive bytes of a file, and where they lie: in the log of client `client`, from position
// `position` on.
struct Deposit {
    Extent extent;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    std::int64_t time_ns = 0;  // CLOCK_MONOTONIC when its oldest byte was written

    bool operator==(const Deposit&) const noexcept = default;
};

// The part of `deposit` that lies in `range`; its extent is empty if there is none.
[[nodiscard]] Deposit part_of(const Deposit& deposit, const Extent& range) noexcept;

// One past the last byte of the extent. If begin + length overflows (the node was read while it
// changed), the beginning.
[[nodiscard]] std::int64_t end_of(const ExtentNode& node) noexcept;

// How much of the list a search has seen.
enum class SearchResult {
    whole,    // `found` holds all deposits in the range, in order
    more,     // `found` is full and holds the first of them
    changed,  // the daemon changed the list meanwhile: search again
};
// The result of a search: `found` deposits, seen at `version` of the list.
struct DepositSearch {
    SearchResult seen = SearchResult::changed;
    std::size_t found = 0;
    std::uint32_t version = 0;  // to be compared with FileSlot::version after copying
};
// Finds the deposits of `file` in `range` and writes them to `found`. Safe while the memory
// changes, and on memory that does not hold a list: it bounds-checks every number and limits the
// steps.
[[nodiscard]] DepositSearch find(const Directory& directory, const FileSlot& file,
                                 const Extent& range, std::span<Deposit> found) noexcept;

}  // namespace forebay::pool
