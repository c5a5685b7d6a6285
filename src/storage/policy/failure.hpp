// The first error of several requests in file order: all bytes below it were moved correctly.
#pragma once

#include <cstdint>
#include <limits>

namespace forebay::plan {

// Keeps, among several errors, the one at the lowest file offset.
struct FirstFailure {
    static constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
    // Stands in `system` for a message between nodes that was invalid.
    static constexpr std::int32_t malformed_message = 0;

    std::int64_t at = nowhere;  // file offset; all bytes below were moved
    std::uint32_t code = 0;     // ErrorCode
    std::int32_t system = 0;    // errno, or malformed_message

    [[nodiscard]] bool happened() const noexcept { return at != nowhere; }
    bool operator==(const FirstFailure&) const noexcept = default;
};

[[nodiscard]] inline const FirstFailure& first_of(const FirstFailure& a,
                                                  const FirstFailure& b) noexcept {
    return b.at < a.at ? b : a;
}

}  // namespace forebay::plan
