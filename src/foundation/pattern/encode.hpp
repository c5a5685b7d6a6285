// A node's contribution to a window of the file, as one message between node leaders: which bytes
// (a bitmap or a list of runs, whichever is shorter) and then these bytes without gaps. Or only
// which bytes, to ask for them. A message is input: the decoder believes nothing.
//
//   | magic form data unit | image bytes | covered bytes | entries | bitmap or runs | bytes … |
//   in the byte order of the machine; a foreign order is a wrong magic.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/pattern/coverage.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pattern {

// No message about an image of this size and granularity is longer.
[[nodiscard]] std::size_t encoded_bytes_max(std::int64_t image_bytes, std::int64_t granularity);
[[nodiscard]] std::size_t encoded_coverage_bytes_max(std::int64_t image_bytes,
                                                     std::int64_t granularity);

// Writes the covered bytes of the image into `out`; returns the length of the message. By one
// rank, when no other marks. Contracts: the image has coverage.image_bytes(), the message fits.
std::size_t encode(const Coverage& coverage, std::span<const std::byte> image,
                   std::span<std::byte> out);
// Puts a message's bytes where they belong in the image and marks them there; returns how many.
// `message` may be longer than what was encoded (a receive buffer). The sender's granularity may
// be any as long as its runs are multiples of the receiver's. Nothing is changed on an error.
Result<std::int64_t> decode_into(std::span<const std::byte> message, std::span<std::byte> image,
                                 Coverage& coverage);

// Only which bytes; the same rules. decode_coverage marks and returns the bytes they stand for.
std::size_t encode_coverage(const Coverage& coverage, std::span<std::byte> out);
Result<std::int64_t> decode_coverage(std::span<const std::byte> message, Coverage& coverage);

// Only the bytes, where both sides know which. An image that ends early (end of file) sends what
// it has.
std::size_t encode_covered(const Coverage& wanted, std::span<const std::byte> image,
                           std::span<std::byte> out);
Result<std::int64_t> decode_covered(std::span<const std::byte> message, const Coverage& wanted,
                                    std::span<std::byte> image);

}  // namespace forebay::pattern
