// Streams against each other, and against what they are to detect.
#include "measure/data_stream.hpp"

#include "measure/mixing.hpp"
#include "measure/transfer_data.hpp"

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

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

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

TEST(DataStream, words_of_files_repetitions_and_offsets_beyond_4_gib_differ) {
    std::set<std::uint64_t> words;
    std::size_t count = 0;
    for (const StreamKey key : {StreamKey{1, 1, 0}, {1, 1, 1}, {1, 2, 0}, {2, 1, 0}}) {
        for (const std::int64_t at : {0LL, 1LL << 32, 1LL << 33, (1LL << 32) + 4096}) {
            const auto bytes = made(DataStream(key), at, 4096);
            for (std::size_t i = 0; i < bytes.size(); i += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + i, 8);
                words.insert(word);
                ++count;
            }
        }
    }
    EXPECT_EQ(words.size(), count);
}

// Order-0 entropy and repeated 4-byte strings within 32 KiB, which is all that gzip could use.
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

class Transfers : public testing::TestWithParam<std::size_t> {};

TEST_P(Transfers, are_the_same_again_and_differ_from_their_neighbours) {
    TransferData data({5, 6, 0}, {GetParam()});
    const auto size = static_cast<std::int64_t>(GetParam());
    std::set<std::vector<std::byte>> seen;
    for (std::int64_t i = 0; i < 20; ++i) {
        seen.insert(copy_of(data.at(Offset{i * size})));
    }
    seen.insert(copy_of(data.at(Offset{(1LL << 32) + size})));
    EXPECT_EQ(seen.size(), 21U);
    for (std::int64_t i = 0; i < 20; ++i) {
        EXPECT_TRUE(seen.contains(copy_of(data.at(Offset{i * size}))));
    }
}

TEST_P(Transfers, blocks_swapped_within_a_rank_are_seen) {
    TransferData data({5, 6, 0}, {GetParam()});
    const auto size = static_cast<std::int64_t>(GetParam());
    const auto first = copy_of(data.at(Offset{0}));
    const auto second = copy_of(data.at(Offset{size}));
    EXPECT_FALSE(data.check(Offset{0}, first));
    EXPECT_TRUE(data.check(Offset{0}, second));
    for (std::size_t block = 0; block + 4096 <= GetParam(); block += 4096) {
        auto mixed_up = first;
        std::copy_n(second.begin() + static_cast<std::ptrdiff_t>(block), 4096,
                    mixed_up.begin() + static_cast<std::ptrdiff_t>(block));
        EXPECT_TRUE(data.check(Offset{0}, mixed_up)) << block;
    }
}

TEST_P(Transfers, of_another_repetition_are_recognised) {
    TransferData data({5, 6, 3}, {GetParam()});
    const auto third = copy_of(data.at(Offset{0}));
    data.set_repetition(0);
    EXPECT_TRUE(data.check(Offset{0}, third));
    EXPECT_EQ(data.repetition_of(Offset{0}, third, 10).value_or(99), 3U);
    EXPECT_FALSE(data.repetition_of(Offset{0}, third, 3).has_value());
    EXPECT_EQ(data.key().repetition, 0U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Transfers, testing::Values(8, 4096, 8192, 8200, 47'008, 1 << 20));

TEST(TransferData, windows_for_direct_io_begin_at_pages) {
    TransferData data({5, 6, 0}, {1 << 16, Precision::quick, Placement::page});
    for (std::int64_t i = 0; i < 20; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(data.at(Offset{i << 16}).data());
        EXPECT_EQ(address % 4096, 0U);
    }
}

TEST(TransferData, exact_ones_can_be_checked_in_other_pieces) {
    TransferData data({5, 6, 0}, {1 << 20, Precision::exact});
    TransferData smaller({5, 6, 0}, {1 << 16, Precision::exact});
    const auto whole = copy_of(data.at(Offset{1 << 20}));
    EXPECT_FALSE(
        smaller.check(Offset{(1 << 20) + (1 << 16)}, std::span(whole).subspan(1 << 16, 1 << 16)));
}

RC_GTEST_PROP(Permutation, is_one, ()) {
    const auto size = *rc::gen::inRange<std::uint64_t>(1, 3000);
    const Permutation order(size, *rc::gen::arbitrary<std::uint64_t>());
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
