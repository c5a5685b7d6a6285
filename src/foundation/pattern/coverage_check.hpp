// For tests and fuzzers only: compares Coverage with an oracle that keeps one flag for each byte.
#pragma once

#include "foundation/pattern/coverage.hpp"
#include "foundation/pattern/oracle.hpp"

#include <algorithm>
#include <vector>

namespace forebay::pattern::oracle {

// A Coverage that owns its words.
class Marked {
public:
    Marked(std::int64_t bytes, std::int64_t granularity)
        : words(Coverage::words_for(bytes, granularity)), coverage(words, bytes, granularity) {
        coverage.clear();
    }
    std::vector<Coverage::Bits> words;
    Coverage coverage;
};

// The name of the first check that fails, or null.
inline const char* wrong_with(const Coverage& coverage, const std::vector<char>& flags) {
    const auto size = static_cast<std::int64_t>(flags.size());
    const auto first = [&](std::int64_t from, bool covered) {
        return std::find(flags.begin() + from, flags.end(), covered ? 1 : 0) - flags.begin();
    };
    for (std::int64_t from = 0; from <= size; ++from) {
        const std::int64_t begin = first(from, true);
        const Coverage::Run run = coverage.next_run(from);
        if (run.begin != begin || run.length != first(begin, false) - begin) {
            return "next_run";
        }
    }
    const std::int64_t covered = std::count(flags.begin(), flags.end(), 1);
    if (coverage.covered_bytes() != covered) {
        return "covered_bytes";
    }
    return coverage.full() == (covered == size) ? nullptr : "full";
}

inline void mark_somehow(Coverage& coverage, Choices& choices, std::int64_t at, std::int64_t length,
                         std::int64_t stride, std::int64_t count) {
    if (length == 0 || choices.below(2) == 0) {
        coverage.mark_strided(at, length, stride, count);
        return;
    }
    std::vector<std::int64_t> addresses;
    for (std::int64_t i = 0; i < count; ++i) {
        addresses.push_back(at + i * stride);
    }
    if (choices.below(2) == 0) {
        coverage.mark_pieces(addresses, length);
    } else {
        coverage.mark_pieces(addresses, std::vector<std::int64_t>(addresses.size(), length));
    }
}

// Marks arbitrary pieces by all marking functions and compares the result with the oracle.
inline const char* wrong_with_marking(Choices& choices) {
    const std::int64_t unit = std::int64_t{1} << choices.below(5);
    const std::int64_t image = choices.below(3000);
    Marked marked(image, unit);
    std::vector<char> flags(static_cast<std::size_t>(image), 0);
    for (std::int64_t n = choices.below(8); n > 0 && image > 0; --n) {
        const std::int64_t at = choices.below(image) / unit * unit;
        const std::int64_t length = unit * choices.between(0, 8);
        const std::int64_t stride = unit * choices.between(0, 80);
        std::int64_t count = choices.between(0, 70);
        while (count > 0 && at + length + stride * (count - 1) > image) {
            --count;
        }
        mark_somehow(marked.coverage, choices, at, length, stride, count);
        for (std::int64_t i = 0; i < count; ++i) {
            std::fill_n(flags.begin() + at + i * stride, length, 1);
        }
        if (choices.below(4) == 0) {  // up to the image's end, which may cut a unit
            marked.coverage.mark(at, image - at);
            std::fill(flags.begin() + at, flags.end(), 1);
        }
    }
    return wrong_with(marked.coverage, flags);
}

}  // namespace forebay::pattern::oracle
