// Fuzzes messages: decoding changes nothing and returns an error, or does what the header says.
#include "foundation/pattern/coverage_check.hpp"
#include "foundation/pattern/encode.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace forebay::pattern;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) {
        return 0;
    }
    const std::int64_t image_bytes = data[0] * 16 + data[1] % 16;
    const std::int64_t unit = std::int64_t{1} << (data[2] % 8);
    const auto message = std::as_bytes(std::span(data + 3, size - 3));
    oracle::Marked marked(image_bytes, unit);
    std::vector<std::byte> image(static_cast<std::size_t>(image_bytes));
    const auto taken = decode_into(message, image, marked.coverage);
    const auto asked = decode_coverage(message, marked.coverage);
    const std::int64_t covered = marked.coverage.covered_bytes();
    const bool right = covered == (taken ? *taken : asked ? *asked : 0);
    const auto given = decode_covered(message, marked.coverage, image);
    if (!right || (given && *given > covered)) {
        std::fprintf(stderr, "%lld bytes are covered\n", static_cast<long long>(covered));
        std::abort();
    }
    std::vector<std::byte> again(encoded_bytes_max(image_bytes, unit));
    again.resize(encode(marked.coverage, image, again));
    oracle::Marked other(image_bytes, unit);
    if (!decode_into(again, image, other.coverage) || other.coverage.covered_bytes() != covered) {
        std::abort();
    }
    return 0;
}
