// For tests and fuzzers only: compares all queries of a nest with the list of its byte
// displacements.
#pragma once

#include "foundation/pattern/oracle.hpp"

#include <algorithm>

namespace forebay::pattern::oracle {

// The name of the first query whose answer is wrong, or null.
inline const char* wrong_with(const Sample& sample) {
    const Nest& nest = sample.nest;
    const std::vector<std::int64_t>& bytes = sample.bytes;
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (nest.size() != size) {
        return "size";
    }
    if (size == 0) {
        return nest.low() == 0 && nest.high() == 0 && nest == Nest{} ? nullptr : "empty";
    }
    if (nest.low() != std::ranges::min(bytes) || nest.high() != std::ranges::max(bytes) + 1) {
        return "bounds";
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (nest.displacement_of(static_cast<std::int64_t>(i)) != bytes[i]) {
            return "displacement_of";
        }
    }
    const bool ascending =
        std::ranges::adjacent_find(bytes, std::ranges::greater_equal{}) == bytes.end();
    if (nest.ascending() != ascending) {
        return "ascending";
    }
    for (std::int64_t at = nest.low() - 3; ascending && at < nest.high() + 3; ++at) {
        const auto found = std::ranges::lower_bound(bytes, at);
        if (nest.bytes_below(at) != found - bytes.begin()) {
            return "bytes_below";
        }
        if (nest.next_at(at) != (found == bytes.end() ? nest.high() : *found)) {
            return "next_at";
        }
    }
    const std::int64_t unit = nest.granularity();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool begins = i == 0 || bytes[i] != bytes[i - 1] + 1;
        const bool ends = i + 1 == bytes.size() || bytes[i + 1] != bytes[i] + 1;
        if ((begins && bytes[i] % unit != 0) || (ends && (bytes[i] + 1) % unit != 0)) {
            return "granularity";
        }
    }
    return nullptr;
}

}  // namespace forebay::pattern::oracle
