// Offsets and lengths in files as distinct types. They are affine, as in std::chrono: Offset -
// Offset = Length, Offset + Length = Offset, and Offset + Offset does not compile. Arithmetic is
// checked: an overflow is a broken contract, since untrusted numbers are checked where they come
// in.
#pragma once

#include "foundation/base/contracts.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace forebay {

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    expects(!__builtin_add_overflow(a, b, &sum), "64-bit sum does not overflow");
    return sum;
}

// Saturating addition of numbers that are not negative: INT64_MAX if the sum overflows.
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

inline std::int64_t checked_subtract(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    expects(!__builtin_sub_overflow(a, b, &difference), "64-bit difference does not overflow");
    return difference;
}

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t product = 0;
    expects(!__builtin_mul_overflow(a, b, &product), "64-bit product does not overflow");
    return product;
}

// A number of bytes; negative only as the difference of two offsets.
class Length {
public:
    constexpr Length() noexcept = default;
    constexpr explicit Length(std::int64_t bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] constexpr std::int64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept {
        expects(bytes_ >= 0, "a size is not negative");
        return static_cast<std::size_t>(bytes_);
    }

    constexpr auto operator<=>(const Length&) const noexcept = default;

    friend Length operator+(Length a, Length b) noexcept {
        return Length{checked_add(a.bytes_, b.bytes_)};
    }
    friend Length operator-(Length a, Length b) noexcept {
        return Length{checked_subtract(a.bytes_, b.bytes_)};
    }
    friend Length operator*(Length a, std::int64_t times) noexcept {
        return Length{checked_multiply(a.bytes_, times)};
    }
    friend std::int64_t operator/(Length a, Length b) noexcept {
        expects(b.bytes_ != 0, "division by a length that is not zero");
        return a.bytes_ / b.bytes_;
    }
    Length& operator+=(Length other) noexcept { return *this = *this + other; }
    Length& operator-=(Length other) noexcept { return *this = *this - other; }

private:
    std::int64_t bytes_ = 0;
};

// A position in a file, in bytes from its start.
class Offset {
public:
    constexpr Offset() noexcept = default;
    constexpr explicit Offset(std::int64_t bytes) noexcept : bytes_(bytes) {}

    // The largest position; a search returns it for "no such position".
    [[nodiscard]] static constexpr Offset none() noexcept {
        return Offset{std::numeric_limits<std::int64_t>::max()};
    }

    [[nodiscard]] constexpr std::int64_t bytes() const noexcept { return bytes_; }

    constexpr auto operator<=>(const Offset&) const noexcept = default;

    friend Offset operator+(Offset a, Length b) noexcept {
        return Offset{checked_add(a.bytes_, b.bytes())};
    }
    friend Offset operator-(Offset a, Length b) noexcept {
        return Offset{checked_subtract(a.bytes_, b.bytes())};
    }
    friend Length operator-(Offset a, Offset b) noexcept {
        return Length{checked_subtract(a.bytes_, b.bytes_)};
    }
    Offset& operator+=(Length other) noexcept { return *this = *this + other; }

private:
    std::int64_t bytes_ = 0;
};

// The bytes [begin, begin + length) of a file.
struct Extent {
    Offset begin;
    Length length;

    [[nodiscard]] Offset end() const noexcept { return begin + length; }
    [[nodiscard]] constexpr bool empty() const noexcept { return length.bytes() <= 0; }

    constexpr auto operator<=>(const Extent&) const noexcept = default;
};

// The common part of two extents; its length is 0 if they do not overlap.
inline Extent intersection(const Extent& a, const Extent& b) noexcept {
    const Offset begin = a.begin > b.begin ? a.begin : b.begin;
    const Offset end = a.end() < b.end() ? a.end() : b.end();
    return Extent{begin, end > begin ? end - begin : Length{0}};
}

// An index with a type of its own, so that a rank cannot be passed where a node or a target is
// meant.
template <class Tag>
class TaggedIndex {
public:
    constexpr TaggedIndex() noexcept = default;
    constexpr explicit TaggedIndex(std::int32_t value) noexcept : value_(value) {}

    [[nodiscard]] constexpr std::int32_t value() const noexcept { return value_; }
    [[nodiscard]] std::size_t position() const noexcept {
        expects(value_ >= 0, "an index is not negative");
        return static_cast<std::size_t>(value_);
    }

    constexpr auto operator<=>(const TaggedIndex&) const noexcept = default;

private:
    std::int32_t value_ = 0;
};

using Rank = TaggedIndex<struct RankTag>;                // of the file's communicator
using NodeId = TaggedIndex<struct NodeTag>;              // of the nodes of that communicator
using LocalRank = TaggedIndex<struct LocalRankTag>;      // of the ranks of one node
using TargetId = TaggedIndex<struct TargetTag>;          // of the storage targets of one file
using AggregatorId = TaggedIndex<struct AggregatorTag>;  // of the aggregators of one plan

}  // namespace forebay
