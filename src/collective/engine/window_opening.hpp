// Opens a window, or a node's copy of another node's window (an image), to the ranks of a node. The
// order of the stores is part of the protocol: see WindowControl in node_segment.hpp.
#pragma once

#include "collective/engine/node_segment.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::engine {

struct WindowOpening {
    std::uint64_t tag = 0;
    std::uint32_t expected = 0;  // the ranks that take part
    std::int64_t end_of_file = 0;
    std::uint64_t lender = 0;  // 0: the window lies in staging
    std::size_t place = 0;     // in the memory of the lender
};

// Everything else is stored before the tag, by which ranks know the window, and the bell rings
// behind it. The caller wakes those that sleep on the bell.
inline void open_window(WindowControl& control, const WindowOpening& window) noexcept {
    control.parts.store(0, std::memory_order_relaxed);
    control.imagined.store(0, std::memory_order_relaxed);
    control.lender.store(window.lender, std::memory_order_relaxed);
    control.place.store(window.place, std::memory_order_relaxed);
    control.expected.store(window.expected, std::memory_order_relaxed);
    control.end_of_file.store(window.end_of_file, std::memory_order_relaxed);
    control.tag.store(window.tag, std::memory_order_release);
    control.bell.fetch_add(1, std::memory_order_release);
}

}  // namespace forebay::engine
