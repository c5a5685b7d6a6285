// The innermost copy loops: many pieces of one length, between two series of addresses. Usual
// lengths are compile-time constants, so that a piece costs one or two move instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forebay::pattern {

struct StridedAddresses {
    std::int64_t first;
    std::int64_t stride;
    std::int64_t operator[](std::int64_t i) const noexcept { return first + i * stride; }
};

struct TabledAddresses {
    const std::int64_t* first;
    std::int64_t operator[](std::int64_t i) const noexcept { return first[i]; }
};

inline std::byte* pointer_to(std::int64_t address) noexcept {
    // The application gives addresses as numbers (MPI_BOTTOM), which have to become pointers again.
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Copies `length` bytes, from `size` to twice that, as two moves that may overlap.
template <std::size_t size>
void copy_ends(std::byte* to, const std::byte* from, std::size_t length) noexcept {
    std::array<std::byte, size> head;
    std::array<std::byte, size> tail;
    std::memcpy(head.data(), from, size);
    std::memcpy(tail.data(), from + length - size, size);
    std::memcpy(to, head.data(), size);
    std::memcpy(to + length - size, tail.data(), size);
}

// Copies one piece of any length without memcpy, whose call costs more than most pieces.
inline void copy_any(std::int64_t to, std::int64_t from, std::int64_t bytes) noexcept {
    const auto length = static_cast<std::size_t>(bytes);
    if (length > 64) {
        std::memcpy(pointer_to(to), pointer_to(from), length);
    } else if (length >= 32) {
        copy_ends<32>(pointer_to(to), pointer_to(from), length);
    } else if (length >= 16) {
        copy_ends<16>(pointer_to(to), pointer_to(from), length);
    } else if (length >= 8) {
        copy_ends<8>(pointer_to(to), pointer_to(from), length);
    } else if (length >= 4) {
        copy_ends<4>(pointer_to(to), pointer_to(from), length);
    } else if (length >= 2) {
        copy_ends<2>(pointer_to(to), pointer_to(from), length);
    } else {
        std::memcpy(pointer_to(to), pointer_to(from), 1);
    }
}

template <std::size_t length, class To, class From>
void copy_fixed(To to, From from, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(pointer_to(to[i]), pointer_to(from[i]), length);
    }
}

// Copies `count` pieces of `length` bytes each.
template <class To, class From>
void copy_pieces(To to, From from, std::int64_t count, std::int64_t length) noexcept {
    switch (length) {
        case 1: return copy_fixed<1>(to, from, count);
        case 2: return copy_fixed<2>(to, from, count);
        case 4: return copy_fixed<4>(to, from, count);
        case 8: return copy_fixed<8>(to, from, count);
        case 12: return copy_fixed<12>(to, from, count);
        case 16: return copy_fixed<16>(to, from, count);
        case 24: return copy_fixed<24>(to, from, count);
        case 32: return copy_fixed<32>(to, from, count);
        case 64: return copy_fixed<64>(to, from, count);
        default: break;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(pointer_to(to[i]), pointer_to(from[i]), static_cast<std::size_t>(length));
    }
}

}  // namespace forebay::pattern
