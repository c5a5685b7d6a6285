// Compares streams with each other, and checks which errors they detect.
#include "benchmarks/measure/data_stream.hpp"

#include "benchmarks/measure/mixing.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

namespace forebay::measure {
namespace {

std::vector<std::byte> made(const DataStream& stream, std::int64_t at, std::size_t size) {
    std::vector<std::byte> bytes(size);
    stream.fill(Offset{at}, bytes);
    return bytes;
}

constexpr std::int64_t far = 1LL << 32;

RC_GTEST_PROP(DataStream, pieces_are_those_of_the_whole, ()) {
    const DataStream stream({7, 9, 1});
    const auto begin = *rc::gen::inRange<std::int64_t>(0, 20'000);
    const auto size = *rc::gen::inRange<std::size_t>(1, 12'000);
    const auto whole = made(stream, 0, 40'000);
    const auto piece = made(stream, begin, size);
    RC_ASSERT(std::equal(piece.begin(), piece.end(), whole.begin() + begin));
    RC_ASSERT(!stream.check(Offset{begin}, piece).has_value());
    auto spoilt = piece;
    const auto at = *rc::gen::inRange<std::size_t>(0, size);
    spoilt[at] ^= std::byte{1};
    const auto found = stream.check(Offset{begin}, spoilt);
    RC_ASSERT(found.has_value());
    RC_ASSERT(found->at <= Offset{begin + static_cast<std::int64_t>(at)});
    RC_ASSERT(found->at > Offset{begin + static_cast<std::int64_t>(at) - 8});
    RC_ASSERT(found->expected != found->found);
}

// Computes the order-0 entropy, and repeated 4-byte strings within 32 KiB, which are all that gzip
// can exploit.
TEST(DataStream, incompressible_is_incompressible) {
    const auto bytes = made(DataStream({3, 4, 0}), 0, 1 << 15);
    std::set<std::uint32_t> strings;
    for (std::size_t i = 0; i + 4 <= bytes.size(); ++i) {
        std::uint32_t string = 0;
        std::memcpy(&string, bytes.data() + i, 4);
        strings.insert(string);
    }
    EXPECT_GT(strings.size(), bytes.size() - 40);
}

TEST(DataStream, names_and_ranks_are_different_files) {
    EXPECT_NE(file_number("a", 0), file_number("b", 0));
    EXPECT_NE(file_number("a", 0), file_number("a", 1));
    EXPECT_EQ(file_number("a", 1), file_number("a", 1));
}

// Windows into a pool of noise would fail this test: with them, one interior block in 2048 was
// equal to one of another transfer.
TEST(DataStream, swapped_interior_sectors_are_seen) {
    constexpr std::size_t transfer = 1 << 14;
    constexpr std::size_t sector = 512;
    const DataStream stream({5, 6, 0});
    const auto first = made(stream, 0, transfer);
    for (const std::int64_t other : {std::int64_t{transfer}, std::int64_t{17 * transfer}, far}) {
        const auto second = made(stream, other, transfer);
        for (std::size_t at = 0; at < transfer; at += sector) {
            auto spoilt = first;
            std::copy_n(second.begin() + static_cast<std::ptrdiff_t>(at), sector,
                        spoilt.begin() + static_cast<std::ptrdiff_t>(at));
            const auto found = stream.check(Offset{0}, spoilt);
            ASSERT_TRUE(found.has_value());
            EXPECT_EQ(found->at, Offset{static_cast<std::int64_t>(at)});
        }
    }
}

TEST(DataStream, no_word_is_that_of_the_same_place_elsewhere) {
    const auto here = made(DataStream({5, file_number("a", 0), 0}), 0, 1 << 16);
    const auto differs_everywhere = [&](StreamKey key, std::int64_t at) {
        const auto there = made(DataStream(key), at, here.size());
        for (std::size_t i = 0; i < here.size(); i += 8) {
            if (std::equal(&here[i], &here[i] + 8, &there[i])) {
                return false;
            }
        }
        return true;
    };
    EXPECT_TRUE(differs_everywhere({5, file_number("a", 0), 0}, far)) << "4 GiB further";
    EXPECT_TRUE(differs_everywhere({5, file_number("a", 1), 0}, 0)) << "another rank's file";
    EXPECT_TRUE(differs_everywhere({5, file_number("b", 0), 0}, 0)) << "another file";
    EXPECT_TRUE(differs_everywhere({5, file_number("a", 0), 1}, 0)) << "another repetition";
    EXPECT_TRUE(differs_everywhere({6, file_number("a", 0), 0}, 0)) << "another seed";
}

TEST(DataStream, a_repetition_is_recognised) {
    const DataStream stream({5, 6, 0});
    const auto third = made(DataStream({5, 6, 3}), 64, 4096);
    EXPECT_EQ(stream.repetition_of(Offset{64}, third, 10).value_or(99), 3U);
    EXPECT_FALSE(stream.repetition_of(Offset{64}, third, 3).has_value());
    EXPECT_FALSE(stream.repetition_of(Offset{0}, third, 10).has_value());
}

// Compares the vector code with the definition.
RC_GTEST_PROP(DataStream, words_are_those_of_split_mix, ()) {
    const StreamKey key{*rc::gen::arbitrary<std::uint64_t>(), 2, 3};
    const auto first = *rc::gen::inRange<std::uint64_t>(0, 1U << 30U);
    const auto count = *rc::gen::inRange<std::size_t>(0, 40);
    const auto bytes = made(DataStream(key), static_cast<std::int64_t>(first * 8), count * 8);
    std::uint64_t state = mixed(mixed(key.seed, key.file), key.repetition) + first * split_mix_step;
    for (std::size_t i = 0; i < count; ++i, state += split_mix_step) {
        std::uint64_t word = 0;
        std::memcpy(&word, &bytes[i * 8], 8);
        RC_ASSERT(word == mixed(state));
    }
}

RC_GTEST_PROP(SeededPermutation, is_one, ()) {
    const auto size = *rc::gen::inRange<std::uint64_t>(1, 3000);
    const SeededPermutation order(size, *rc::gen::arbitrary<std::uint64_t>());
    std::vector<bool> seen(size, false);
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t to = order(i);
        RC_ASSERT(to < size);
        RC_ASSERT(!seen[to]);
        seen[to] = true;
    }
}

}  // namespace
}  // namespace forebay::measure
