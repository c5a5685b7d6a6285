// Compares IOR's data with words computed independently, from the definition in ior_data.hpp and
// the C library's rand_r; and checks whose data is recognised.
#include "benchmarks/ior/ior_data.hpp"
#include "benchmarks/ior/file_data.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace forebay::ior {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Offset far{5 * (std::int64_t{1} << 30) + 262'144};

std::vector<std::byte> made(const IorKey& key, Offset at, std::size_t words) {
    std::vector<std::byte> bytes(words * 8);
    fill_as_ior(key, at, bytes);
    return bytes;
}

std::uint64_t word(const std::vector<std::byte>& bytes, std::size_t index) {
    std::uint64_t found = 0;
    std::memcpy(&found, bytes.data() + index * 8, sizeof found);
    return found;
}

// Regression: a file written by IOR with the same -G was reported as corrupt, and vice versa.
TEST(IorData, is_that_of_the_original_bit_for_bit) {
    using Expected = std::array<std::uint64_t, 6>;
    constexpr std::array<std::size_t, 6> at{0, 1, 2, 512, 513, 1024};
    const std::array<std::pair<PacketType, Expected>, 4> all{
        {{PacketType::timestamp,
          {0x30000002a, 0x30000002b, 0x30000002c, 0x30000022a, 0x30000022b, 0x30000042a}},
         {PacketType::offset,
          {0x340040000, 0x30000002b, 0x30000002c, 0x380080000, 0x30000022b, 0x3c00c0000}},
         {PacketType::incompressible,
          {0x340040000, 0x7db9c51e589413da, 0x7db9c51e589413da, 0x380080000, 0x7db9c51e589413da,
           0x3c00c0000}},
         {PacketType::random,
          {0x131df387d7250afe, 0xe11d2de7565a15f, 0x162bffa8fdfd342b, 0x3445090eadb9352,
           0x12de14a453b2726a, 0x9fb7d1ec6dd2989}}}};
    for (const auto& [type, expected] : all) {
        const auto bytes = made({type, 42, 3}, far, 1026);
        for (std::size_t i = 0; i < at.size(); ++i) {
            EXPECT_EQ(word(bytes, at[i]), expected[i])
                << "type " << static_cast<int>(type) << " word " << at[i];
        }
    }
}

TEST(IorData, a_negative_signature_extends_its_sign) {
    const auto bytes = made({PacketType::timestamp, -5, 2}, Offset{0}, 8);
    EXPECT_EQ(word(bytes, 0), 0xfffffffffffffffb);
    EXPECT_EQ(word(bytes, 4), 0xffffffffffffffff);
    EXPECT_EQ(word(bytes, 5), 0x200000000U);
}

// IOR draws the words with rand_r of the C library that it is built with.
TEST(IorData, incompressible_words_are_draws_of_rand_r) {
    for (unsigned seed : {0U, 1U, 573U, 0x7fffffffU, 0xfffffffbU}) {
        const auto bytes =
            made({PacketType::incompressible, static_cast<std::int32_t>(seed), 0}, Offset{0}, 4);
        unsigned state = seed;
        const auto high = static_cast<std::uint64_t>(::rand_r(&state)) << 32U;
        EXPECT_EQ(word(bytes, 1), high | static_cast<std::uint64_t>(::rand_r(&state))) << seed;
    }
}

TEST(IorData, is_recognised_without_its_signature) {
    for (const PacketType type : {PacketType::timestamp, PacketType::offset,
                                  PacketType::incompressible, PacketType::random}) {
        const auto bytes = made({type, 42, 3}, far, 1026);
        const auto key = ior_key_of(3, far, bytes);
        ASSERT_TRUE(key.has_value()) << static_cast<int>(type);
        EXPECT_EQ(key->type, type);
        if (type == PacketType::timestamp || type == PacketType::offset) {
            EXPECT_EQ(key->signature, 42);
        }
        auto spoilt = bytes;
        spoilt[8 * 700] ^= std::byte{1};
        EXPECT_FALSE(ior_key_of(3, far, spoilt).has_value()) << static_cast<int>(type);
    }
    EXPECT_FALSE(ior_key_of(0, Offset{0}, std::vector<std::byte>(4096)).has_value());
    EXPECT_FALSE(ior_key_of(0, Offset{0}, std::vector<std::byte>(8)).has_value());
}

FileData data_of(DataFormat makes, PacketType type, std::int32_t signature) {
    return {makes, measure::DataStream({42, 7, 0}), IorKey{type, signature, 3}};
}

TEST(FileData, says_whose_it_is_instead) {
    const auto ours = data_of(DataFormat::forebay, PacketType::timestamp, 42);
    const auto theirs = data_of(DataFormat::ior, PacketType::offset, 42);
    std::vector<std::byte> bytes(8192);
    theirs.fill(far, bytes);
    EXPECT_FALSE(theirs.check(far, bytes).has_value());
    EXPECT_TRUE(ours.check(far, bytes).has_value());
    EXPECT_THAT(ours.origin(far, bytes), HasSubstr("IOR's (-l offset -G 42). Add --ior-compat"));
    EXPECT_THAT(data_of(DataFormat::ior, PacketType::random, 42).origin(far, bytes),
                HasSubstr("Give -l offset"));
    EXPECT_THAT(data_of(DataFormat::ior, PacketType::offset, 43).origin(far, bytes),
                HasSubstr("Give -G 42"));
    EXPECT_THAT(theirs.origin(far, bytes), IsEmpty());
    ours.fill(far, bytes);
    EXPECT_FALSE(ours.check(far, bytes).has_value());
    EXPECT_TRUE(theirs.check(far, bytes).has_value());
    EXPECT_THAT(theirs.origin(far, bytes), HasSubstr("Leave --ior-compat out"));
    EXPECT_THAT(ours.origin(far, std::vector<std::byte>(8192)), IsEmpty());
}

}  // namespace
}  // namespace forebay::ior
