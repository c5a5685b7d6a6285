// The first error of several requests, by file offset: what lies below it is as it should be.
#pragma once

#include <cstdint>
#include <limits>

namespace forebay::plan {

// The error that counts is the one at the lowest file offset.
struct FirstFailure {
    static constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int32_t misunderstood = 0;  // a message between nodes made no sense

    std::int64_t at = nowhere;  // file offset up to which everything is fine
    std::uint32_t code = 0;     // ErrorCode
    std::int32_t system = 0;    // errno, or misunderstood

    [[nodiscard]] bool happened() const noexcept { return at != nowhere; }
    bool operator==(const FirstFailure&) const noexcept = default;
};

[[nodiscard]] inline const FirstFailure& first_of(const FirstFailure& a,
                                                  const FirstFailure& b) noexcept {
    return b.at < a.at ? b : a;
}

}  // namespace forebay::plan
