// Hash functions, and permutations that take no memory: for the keys of data streams, and for
// random orders of more transfers than a shuffled list could hold.
#pragma once

#include <cstdint>

namespace forebay::measure {

constexpr std::uint64_t split_mix_step = 0x9e3779b97f4a7c15U;

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) of a number or a vector of numbers: a bijection in
// which every output bit depends on every input bit.
template <class Number>
constexpr void split_mix(Number& x) noexcept {
    x += split_mix_step;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
}

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
    split_mix(x);
    return x;
}

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    return mixed(mixed(a) ^ (b * 0xd6e8feb86659fd93U));
}

// Maps a random number to [0, bound), uniformly up to a bias of bound · 2^-64.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t random, std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * bound) >> 64U);
}

// A seeded permutation of [0, size): a four-round Feistel network over the next power of four,
// applied until the result is in range (cycle walking; Black and Rogaway, 2002). 20 to 60 ns per
// call.
class SeededPermutation {
public:
    constexpr SeededPermutation(std::uint64_t size, std::uint64_t seed) noexcept
        : size_(size), seed_(seed) {
        while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < size) {
            ++half_bits_;
        }
    }

    [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t index) const noexcept {
        do {
            index = once(index);
        } while (index >= size_);
        return index;
    }

private:
    [[nodiscard]] constexpr std::uint64_t once(std::uint64_t index) const noexcept {
        const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
        std::uint64_t left = index >> half_bits_;
        std::uint64_t right = index & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (mixed(seed_ + round, right) & mask);
            left = right;
            right = next;
        }
        return (left << half_bits_) | right;
    }

    std::uint64_t size_;
    std::uint64_t seed_;
    unsigned half_bits_ = 1;
};

}  // namespace forebay::measure
