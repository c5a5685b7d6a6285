// For tests only: where rapidcheck's properties get their choices from.
#pragma once

#include <cstdint>
#include <rapidcheck.h>
#include <vector>

namespace forebay::pattern::oracle {

// Enough for a deep nest and the way it is used; all values are equally likely from the start.
inline rc::Gen<std::vector<std::uint8_t>> arbitrary_bytes() {
    constexpr std::size_t bytes = 300;
    const auto byte = rc::gen::cast<std::uint8_t>(rc::gen::inRange(0, 256));
    return rc::gen::resize(rc::kNominalSize,
                           rc::gen::container<std::vector<std::uint8_t>>(bytes, byte));
}

}  // namespace forebay::pattern::oracle
