// See data_stream.hpp.
#include "measure/data_stream.hpp"

#include "measure/mixing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace forebay::measure {

namespace {

constexpr std::size_t words_of_block = DataStream::block_bytes / sizeof(std::uint64_t);

// GCC's and Clang's vectors; unaligned, because a program's buffer may be.
using Lane = std::uint64_t __attribute__((vector_size(32), aligned(8), may_alias));

inline __attribute__((always_inline)) void xor_block_with(std::byte* to, const std::uint64_t* noise,
                                                          std::uint64_t key) noexcept {
    const Lane keys = {key, key, key, key};
    for (std::size_t word = 0; word < words_of_block; word += 8) {
        Lane first;
        Lane second;
        std::memcpy(&first, noise + word, sizeof first);
        std::memcpy(&second, noise + word + 4, sizeof second);
        first ^= keys;
        second ^= keys;
        std::memcpy(to + word * sizeof key, &first, sizeof first);
        std::memcpy(to + (word + 4) * sizeof key, &second, sizeof second);
    }
}

void xor_block(std::byte* to, const std::uint64_t* noise, std::uint64_t key) noexcept {
    xor_block_with(to, noise, key);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void xor_block_wide(std::byte* to, const std::uint64_t* noise,
                                                    std::uint64_t key) noexcept {
    xor_block_with(to, noise, key);
}
bool has_wide() noexcept { return __builtin_cpu_supports("avx2") != 0; }
#else
void xor_block_wide(std::byte* to, const std::uint64_t* noise, std::uint64_t key) noexcept {
    xor_block_with(to, noise, key);
}
bool has_wide() noexcept { return false; }
#endif

std::uint64_t word_at(std::span<const std::byte> from, std::size_t position) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + position, std::min(sizeof word, from.size() - position));
    return word;
}

}  // namespace

std::uint64_t file_number(std::string_view name, std::int64_t rank) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return mixed(hash, static_cast<std::uint64_t>(rank));
}

std::string describe(const Mismatch& mismatch) {
    return fmt::format("offset {}: expected {:#018x}, found {:#018x}", mismatch.at.bytes(),
                       mismatch.expected, mismatch.found);
}

std::optional<Mismatch> first_mismatch(Offset at, std::span<const std::byte> expected,
                                       std::span<const std::byte> found) noexcept {
    const std::size_t size = std::min(expected.size(), found.size());
    if (size == 0 || std::memcmp(expected.data(), found.data(), size) == 0) {
        return std::nullopt;
    }
    const auto differing = std::mismatch(
        expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(size), found.begin());
    const auto position = static_cast<std::size_t>(differing.first - expected.begin());
    // Whole words of the file, where the piece has them.
    const auto into_word = static_cast<std::size_t>(
        (static_cast<std::uint64_t>(at.bytes()) + position) % sizeof(std::uint64_t));
    const std::size_t begin = position >= into_word ? position - into_word : 0;
    return Mismatch{at + Length{static_cast<std::int64_t>(begin)},
                    word_at(expected.first(size), begin), word_at(found.first(size), begin)};
}

DataStream::DataStream(StreamKey key) : key_(key), wide_(has_wide()), noise_(words_of_block) {
    std::uint64_t state = mixed(key.seed, key.file);
    for (std::uint64_t& word : noise_) {
        state += 0x9e3779b97f4a7c15U;
        word = mixed(state);
    }
    set_repetition(key.repetition);
}

void DataStream::set_repetition(std::uint64_t repetition) noexcept {
    key_.repetition = repetition;
    base_ = mixed(mixed(key_.seed, key_.file), repetition);
}

std::uint64_t DataStream::block_key(std::uint64_t block) const noexcept {
    return mixed(base_, block);
}

void DataStream::fill_part(std::uint64_t at, std::span<std::byte> to) const noexcept {
    const std::uint64_t key = block_key(at / block_bytes);
    std::uint64_t position = at % block_bytes;
    std::size_t done = 0;
    while (done < to.size()) {
        const std::uint64_t word = noise_[position / sizeof key] ^ key;
        const std::size_t into_word = position % sizeof word;
        const std::size_t count = std::min(sizeof word - into_word, to.size() - done);
        std::array<std::byte, sizeof word> bytes{};
        std::memcpy(bytes.data(), &word, sizeof word);
        std::memcpy(to.data() + done, bytes.data() + into_word, count);
        done += count;
        position += count;
    }
}

void DataStream::fill(Offset at, std::span<std::byte> to) const noexcept {
    auto position = static_cast<std::uint64_t>(at.bytes());
    std::size_t done = 0;
    while (done < to.size()) {
        const std::size_t rest = to.size() - done;
        const std::size_t count = std::min(rest, block_bytes - position % block_bytes);
        if (count == block_bytes) {
            const std::uint64_t key = block_key(position / block_bytes);
            (wide_ ? xor_block_wide : xor_block)(to.data() + done, noise_.data(), key);
        } else {
            fill_part(position, to.subspan(done, count));
        }
        done += count;
        position += count;
    }
}

std::optional<Mismatch> DataStream::check(Offset at,
                                          std::span<const std::byte> got) const noexcept {
    alignas(64) std::array<std::byte, block_bytes> expected;
    std::size_t done = 0;
    while (done < got.size()) {
        const Offset here = at + Length{static_cast<std::int64_t>(done)};
        const std::size_t into_block = static_cast<std::uint64_t>(here.bytes()) % block_bytes;
        const std::size_t count = std::min(got.size() - done, block_bytes - into_block);
        const std::span<std::byte> part(expected.data(), count);
        fill(here, part);
        if (auto found = first_mismatch(here, part, got.subspan(done, count))) {
            return found;
        }
        done += count;
    }
    return std::nullopt;
}

}  // namespace forebay::measure
