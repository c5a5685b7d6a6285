// Generates the stream, with vector instructions if the processor has them, and compares it.
#include "benchmarks/measure/data_stream.hpp"

#include "benchmarks/measure/mixing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace forebay::measure {

namespace {

using Word = std::uint64_t;
constexpr std::size_t checked_bytes = 4096;  // at a time

// Generates `words` words, starting at SplitMix64's state `count`.
using Make = void (*)(Word count, std::byte* to, std::size_t words) noexcept;

void make_words(Word count, std::byte* to, std::size_t words) noexcept {
    for (std::size_t i = 0; i < words; ++i, count += split_mix_step) {
        const Word word = mixed(count);
        std::memcpy(to + i * sizeof word, &word, sizeof word);
    }
}

#if defined(__x86_64__)
using Words4 = Word __attribute__((vector_size(32)));
using Words8 = Word __attribute__((vector_size(64)));

// As make_words(), a vector of words at a time.
template <class Lanes>
inline __attribute__((always_inline)) void make_lanes(Word count, std::byte* to,
                                                      std::size_t words) noexcept {
    constexpr std::size_t lanes = sizeof(Lanes) / sizeof(Word);
    Lanes counts;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        counts[lane] = count + lane * split_mix_step;
    }
    std::size_t done = 0;
    for (; done + lanes <= words; done += lanes, counts += lanes * split_mix_step) {
        Lanes made = counts;
        split_mix(made);
        std::memcpy(to + done * sizeof(Word), &made, sizeof made);
    }
    make_words(counts[0], to + done * sizeof(Word), words - done);
}

__attribute__((target("avx2"))) void make_4(Word count, std::byte* to, std::size_t words) noexcept {
    make_lanes<Words4>(count, to, words);
}
__attribute__((target("avx512f,avx512dq"))) void make_8(Word count, std::byte* to,
                                                        std::size_t words) noexcept {
    make_lanes<Words8>(count, to, words);
}

Make fastest() noexcept {
    return __builtin_cpu_supports("avx512dq") != 0 ? make_8
           : __builtin_cpu_supports("avx2") != 0   ? make_4
                                                   : make_words;
}
#else
Make fastest() noexcept { return make_words; }
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

std::string describe(const DataMismatch& mismatch) {
    return fmt::format("offset {}: expected {:#018x}, found {:#018x}", mismatch.at.bytes(),
                       mismatch.expected, mismatch.found);
}

std::optional<DataMismatch> first_mismatch(Offset at, std::span<const std::byte> expected,
                                           std::span<const std::byte> found) noexcept {
    const std::size_t size = std::min(expected.size(), found.size());
    if (size == 0 || std::memcmp(expected.data(), found.data(), size) == 0) {
        return std::nullopt;
    }
    const auto differing = std::mismatch(
        expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(size), found.begin());
    const auto position = static_cast<std::size_t>(differing.first - expected.begin());
    // Reports the whole word of the file, as far as the piece contains it.
    const auto into_word = static_cast<std::size_t>(
        (static_cast<std::uint64_t>(at.bytes()) + position) % sizeof(std::uint64_t));
    const std::size_t begin = position >= into_word ? position - into_word : 0;
    return DataMismatch{at + Length{static_cast<std::int64_t>(begin)},
                        word_at(expected.first(size), begin), word_at(found.first(size), begin)};
}

DataStream::DataStream(StreamKey key) noexcept : key_(key) { set_repetition(key.repetition); }

void DataStream::set_repetition(std::uint64_t repetition) noexcept {
    key_.repetition = repetition;
    base_ = mixed(mixed(key_.seed, key_.file), repetition);
}

std::uint64_t DataStream::count_at(std::uint64_t word) const noexcept {
    return base_ + word * split_mix_step;
}

void DataStream::fill(Offset at, std::span<std::byte> to) const noexcept {
    const auto position = static_cast<std::uint64_t>(at.bytes());
    std::uint64_t index = position / sizeof(Word);
    // Writes a part of a word, at either end or within a single word.
    const auto part = [&](std::size_t skipped, std::size_t count) {
        const Word word = mixed(count_at(index++));
        std::array<std::byte, sizeof word> bytes{};
        std::memcpy(bytes.data(), &word, sizeof word);
        std::memcpy(to.data(), bytes.data() + skipped, count);
        to = to.subspan(count);
    };
    if (const std::size_t skipped = position % sizeof(Word); skipped != 0) {
        part(skipped, std::min(sizeof(Word) - skipped, to.size()));
    }
    const std::size_t words = to.size() / sizeof(Word);
    fastest()(count_at(index), to.data(), words);
    index += words;
    to = to.subspan(words * sizeof(Word));
    if (!to.empty()) {
        part(0, to.size());
    }
}

std::optional<DataMismatch> DataStream::check(Offset at,
                                              std::span<const std::byte> got) const noexcept {
    alignas(64) std::array<std::byte, checked_bytes> expected;
    while (!got.empty()) {
        const std::size_t count = std::min(got.size(), expected.size());
        const std::span<std::byte> part(expected.data(), count);
        fill(at, part);
        if (auto found = first_mismatch(at, part, got.first(count))) {
            return found;
        }
        at = at + Length{static_cast<std::int64_t>(count)};
        got = got.subspan(count);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> DataStream::repetition_of(Offset at, std::span<const std::byte> got,
                                                       std::uint64_t count) const noexcept {
    DataStream other = *this;
    const auto head = got.first(std::min(got.size(), sizeof(Word)));
    for (std::uint64_t repetition = 0; repetition < count; ++repetition) {
        other.set_repetition(repetition);
        if (!other.check(at, head)) {
            return repetition;
        }
    }
    return std::nullopt;
}

}  // namespace forebay::measure
