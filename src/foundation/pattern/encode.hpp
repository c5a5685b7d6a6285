// The message between node leaders that carries a node's part of a window: which bytes of the
// window's staging buffer (the image) are covered, as a bitmap or a list of runs, whichever is
// shorter, and then these bytes, packed. A message may also carry only the coverage, to request
// bytes, or only the bytes. Messages are untrusted input: the decoder checks everything before it
// changes anything.
//
//   0      4     5     6      7         8            16             24       32
//   magic  form  data  shift  reserved  image bytes  covered bytes  entries  entries, then data
//   u32    u8    u8    u8     u8        i64          i64            i64      8 bytes each, bytes
//
// The granularity is 1 << shift bytes. An entry is a word of the bitmap, or a run as two u32 (the
// units of the gap since the run before, the units of the run). Numbers are in the machine's byte
// order; the magic of a message in the other order does not match.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/pattern/coverage.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace forebay::pattern {

// The error of a message that cannot be used; `why` is a clause, such as "it is cut short".
[[nodiscard]] Error unusable_message(std::string_view why);

// Upper bound of a message's length for an image of this size and granularity.
[[nodiscard]] std::size_t encoded_bytes_max(std::int64_t image_bytes, std::int64_t granularity);
[[nodiscard]] std::size_t encoded_coverage_bytes_max(std::int64_t image_bytes,
                                                     std::int64_t granularity);

// Encodes the covered bytes of the image into `out`; returns the message's length. To be called by
// one rank, while no other marks. Contracts: the image has coverage.image_bytes() bytes, and the
// message fits into `out`.
std::size_t encode(const Coverage& coverage, std::span<const std::byte> image,
                   std::span<std::byte> out);
// Copies a message's bytes to their places in the image and marks them; returns their number.
// `message` may be longer than the encoded message (a receive buffer). The sender's granularity may
// differ, if its runs are multiples of the receiver's. After an error nothing is changed.
Result<std::int64_t> decode_into(std::span<const std::byte> message, std::span<std::byte> image,
                                 Coverage& coverage);

// The coverage alone, by the same rules. decode_coverage() marks it and returns its bytes.
std::size_t encode_coverage(const Coverage& coverage, std::span<std::byte> out);
Result<std::int64_t> decode_coverage(std::span<const std::byte> message, Coverage& coverage);

// The bytes alone, where both sides know the coverage. If the image is shorter than the coverage
// (end of file), only the bytes that it has are sent.
std::size_t encode_covered(const Coverage& wanted, std::span<const std::byte> image,
                           std::span<std::byte> out);
Result<std::int64_t> decode_covered(std::span<const std::byte> message, const Coverage& wanted,
                                    std::span<std::byte> image);

}  // namespace forebay::pattern
