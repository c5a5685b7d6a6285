// Known values of k: text format, ages, and values that need not be written.
#include "storage/policy/known_limits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace forebay::plan {
namespace {

constexpr AgeLimits ages{1000, 10000};

KnownLimit entry(const std::string& file_system, std::int64_t found_s, std::int32_t limit = 3) {
    return {{file_system, {16, 1 << 20}, IoDirection::write}, {limit, 4e8}, found_s};
}

TEST(KnownLimits, ReadsBackWhatItWrites) {
    KnownLimits known;
    KnownLimit reads = entry("bd00bd0-1f", 60, 5);
    reads.key.direction = IoDirection::read;
    EXPECT_TRUE(known.note(entry("bd00bd0-1f", 50), ages));
    EXPECT_TRUE(known.note(reads, ages));
    EXPECT_EQ(known.text(),
              "forebay.limits/1\n"
              "bd00bd0-1f 16 1048576 write 3 400000000 50\n"
              "bd00bd0-1f 16 1048576 read 5 400000000 60\n");
    EXPECT_EQ(KnownLimits::parse(known.text()).entries(), known.entries());
}

TEST(KnownLimits, LeavesOutWhatMakesNoSense) {
    const KnownLimits known = KnownLimits::parse(
        "forebay.limits/1\n"
        "\n"
        "x 16 1048576 write 3\n"
        "x 16 1048576 both 3 400 50\n"
        "x 16 1048576 write 0 400 50\n"
        "x 16 1048576 write 65 400 50\n"
        "x 16 1048576 write 3 -1 50\n"
        "x 16 1048576 write 3 400 50 60\n"
        "x 16 9999999999999999999999 write 3 400 50\n"
        "  16 1048576 write 3 400 50\n"
        "good 16 1048576 write 3 400 50");
    ASSERT_EQ(known.entries().size(), 1U);
    EXPECT_EQ(known.entries().front().key.file_system, "good");
    EXPECT_TRUE(KnownLimits::parse("something else\ngood 16 1 write 3 400 50\n").entries().empty());
    EXPECT_TRUE(KnownLimits::parse("").entries().empty());
}

TEST(KnownLimits, AreTrustedForATimeAndThenForgotten) {
    KnownLimits known;
    known.note(entry("x", 100), ages);
    const LimitKey key = entry("x", 0).key;
    EXPECT_EQ(known.find(key, 200, ages), (FoundLimit{3, 4e8}));
    EXPECT_EQ(known.find(key, 1101, ages), (FoundLimit{3, 0}));
    EXPECT_EQ(known.find(key, 10101, ages), FoundLimit{});
    EXPECT_EQ(known.find(key, 99, ages), FoundLimit{}) << "found in the future";
    EXPECT_EQ(known.find(entry("y", 0).key, 200, ages), FoundLimit{});
}

TEST(KnownLimits, AreWrittenOnlyWhenTheySayAnotherThing) {
    KnownLimits known;
    EXPECT_TRUE(known.note(entry("x", 100), ages));
    EXPECT_FALSE(known.note(entry("x", 600), ages));
    EXPECT_TRUE(known.note(entry("x", 601), ages)) << "soon too old";
    EXPECT_TRUE(known.note(entry("x", 602, 4), ages));
    KnownLimit faster = entry("x", 603, 4);
    faster.found.rate = 7e8;
    EXPECT_TRUE(known.note(faster, ages));
    EXPECT_EQ(known.entries().size(), 1U);
}

TEST(KnownLimits, StayFew) {
    KnownLimits known;
    for (int i = 0; i < 300; ++i) {
        known.note(entry(fmt::format("x{}", i), 100 + i), ages);
    }
    EXPECT_EQ(known.entries().size(), KnownLimits::entries_max);
    EXPECT_EQ(known.entries().back().key.file_system, "x299");
    known.note(entry("y", 20000), ages);
    EXPECT_EQ(known.entries().size(), 1U) << "the others are too old";
}

}  // namespace
}  // namespace forebay::plan
