// For tests only: the generator of rapidcheck's properties, whose bytes become Choices.
#pragma once

#include <cstdint>
#include <rapidcheck.h>
#include <vector>

namespace forebay::pattern::oracle {

// A length that suffices for a deep nest and its use; all values are equally likely from the start.
inline rc::Gen<std::vector<std::uint8_t>> arbitrary_bytes() {
    constexpr std::size_t bytes = 300;
    const auto byte = rc::gen::cast<std::uint8_t>(rc::gen::inRange(0, 256));
    return rc::gen::resize(rc::kNominalSize,
                           rc::gen::container<std::vector<std::uint8_t>>(bytes, byte));
}

}  // namespace forebay::pattern::oracle
