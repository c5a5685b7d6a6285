// Decodes values of lustre.lov built from the documented format, valid and corrupted.
#include "storage/layout/lustre.hpp"

#include "foundation/base/bytes.hpp"
#include "storage/layout/lustre_check.hpp"
#include "storage/layout/stripes.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::layout {
namespace {

using check::composite;
using check::Entry;
using check::Plain;
using check::plain;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t v3 = 0x0BD30BD0;

FileLayout parsed(const std::vector<std::byte>& value) {
    auto layout = parse_lustre(value);
    EXPECT_TRUE(layout.has_value()) << layout.error().message;
    return layout.value_or(FileLayout{});
}

std::string refused(std::span<const std::byte> value) {
    const auto layout = parse_lustre(value);
    EXPECT_FALSE(layout.has_value());
    return layout ? std::string() : layout.error().message;
}

TEST(Lustre, reads_every_byte_of_a_plain_layout) {
    constexpr std::array<unsigned char, 80> bytes{
        0xD0, 0x0B, 0xD1, 0x0B, 1, 0, 0, 0,                          // magic, pattern
        0x34, 0x12, 0,    0,    0, 0, 0, 0, 0, 4, 0, 2, 0, 0, 0, 0,  // object
        0,    0,    0x40, 0,    2, 0, 0, 0,                          // 4 MiB, two stripes
        9,    9,    9,    9,    9, 9, 9, 9, 8, 8, 8, 8, 8, 8, 8, 8,  // object of target 5
        0,    0,    0,    0,    5, 0, 0, 0,                          //
        9,    9,    9,    9,    9, 9, 9, 9, 8, 8, 8, 8, 8, 8, 8, 8,  // object of target 258
        0,    0,    0,    0,    2, 1, 0, 0};
    const auto layout = parse_lustre(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(layout.has_value()) << layout.error().message;
    EXPECT_EQ(layout->source, LayoutSource::lustre);
    ASSERT_EQ(layout->components.size(), 1U);
    const Component& one = layout->components.front();
    EXPECT_EQ(one.stripe_bytes, 4 * mib);
    EXPECT_EQ(one.stripe_count, 2);
    EXPECT_THAT(one.osts, ElementsAre(5, 258));
    EXPECT_EQ(one.end, end_of_file);
    EXPECT_TRUE(one.initialised);
}

TEST(Lustre, reads_pools_and_specific_targets) {
    for (const std::uint32_t magic : {v3, 0x0BD50BD0U}) {
        const auto layout = parsed(plain({.magic = magic,
                                          .stripe_bytes = 65536,
                                          .stripe_count = 3,
                                          .pool = "flash",
                                          .osts = {7, 0, 2}}));
        ASSERT_EQ(layout.components.size(), 1U);
        EXPECT_EQ(layout.components[0].pool, "flash");
        EXPECT_THAT(layout.components[0].osts, ElementsAre(7, 0, 2));
    }
}

TEST(Lustre, reads_a_pool_that_fills_its_field) {
    const auto layout = parsed(plain({.magic = v3, .pool = "sixteen_letters!"}));
    EXPECT_EQ(layout.components.at(0).pool, "sixteen_letters!");
}

TEST(Lustre, reads_defaults_of_directories) {
    const auto all = parsed(plain({.stripe_bytes = 0, .stripe_count = 0xFFFF}));
    EXPECT_EQ(all.components.at(0).stripe_count, all_targets);
    EXPECT_EQ(stripes_of(all, 0), (FileStripes{1, 0}));
    const auto some = parsed(plain({.stripe_bytes = 2 << 20, .stripe_count = 4}));
    EXPECT_TRUE(some.components.at(0).osts.empty());
    EXPECT_EQ(stripes_of(some, 0), (FileStripes{4, 2 * mib}));
}

TEST(Lustre, refuses_objects_with_stripes_of_nothing) {
    EXPECT_THAT(refused(plain({.stripe_bytes = 0, .osts = {3, 4}})), HasSubstr("stripes of 0"));
}

TEST(Lustre, tells_placements_apart) {
    const auto placement = [](std::uint32_t pattern) {
        return parsed(plain({.pattern = pattern})).components.at(0).placement;
    };
    EXPECT_EQ(placement(0), DataPlacement::striped);
    EXPECT_EQ(placement(0x201), DataPlacement::striped);       // overstriped
    EXPECT_EQ(placement(0x801), DataPlacement::striped);       // compressed
    EXPECT_EQ(placement(0x40000001), DataPlacement::striped);  // with a hole (LOV_PATTERN_F_HOLE)
    EXPECT_EQ(placement(0xFFFFFFFF), DataPlacement::striped);  // the default
    EXPECT_EQ(placement(0x100), DataPlacement::metadata);
    EXPECT_EQ(placement(0x400), DataPlacement::foreign);
    EXPECT_EQ(placement(0x80000001), DataPlacement::released);
    EXPECT_THAT(refused(plain({.pattern = 0x1000})), HasSubstr("unknown pattern 0x1000"));
}

TEST(Lustre, reads_a_foreign_file) {
    check::Image image;
    image.u32(0x0BD70BD0).u32(4).u32(1).u32(0).u32(0xABCD);
    const auto layout = parsed(image.bytes());
    EXPECT_EQ(layout.components.at(0).placement, DataPlacement::foreign);
    EXPECT_EQ(stripes_of(layout, 0), FileStripes{});
}

std::vector<Entry> progressive() {
    return {{.id = 1, .end = 1 << 20, .value = plain({.pattern = 0x100, .stripe_count = 0})},
            {.id = 2,
             .begin = 1 << 20,
             .end = 256 << 20,
             .value = plain({.stripe_count = 2, .osts = {4, 1}})},
            {.id = 3,
             .flags = 0,
             .begin = 256 << 20,
             .value =
                 plain({.magic = v3, .stripe_bytes = 4 << 20, .stripe_count = 8, .pool = "disk"})}};
}

TEST(Lustre, reads_a_progressive_layout) {
    const auto layout = parsed(composite(progressive()));
    ASSERT_EQ(layout.components.size(), 3U);
    EXPECT_EQ(layout.components[0].placement, DataPlacement::metadata);
    EXPECT_EQ(layout.components[0].end, mib);
    EXPECT_THAT(layout.components[1].osts, ElementsAre(4, 1));
    EXPECT_EQ(layout.components[1].begin, mib);
    EXPECT_FALSE(layout.components[2].initialised);
    EXPECT_EQ(layout.components[2].pool, "disk");
    EXPECT_EQ(layout.components[2].end, end_of_file);
}

TEST(Lustre, reads_mirrors_extensions_and_parity) {
    const auto layout = parsed(composite(
        {{.id = 0x10001, .flags = 0x10 | 0x1, .value = plain({.osts = {0}})},
         {.id = 0x20002, .flags = 0x10 | 0x4, .end = 64 << 20, .value = plain({.osts = {1}})},
         {.id = 0x20003, .flags = 0x40, .begin = 64 << 20, .value = plain({})},
         {.id = 0x30004, .flags = 0x80, .value = plain({})}},
        0x0BD80BD0));
    ASSERT_EQ(layout.components.size(), 4U);
    EXPECT_TRUE(layout.components[0].stale);
    EXPECT_EQ(layout.components[0].mirror, 1);
    EXPECT_TRUE(layout.components[1].preferred);
    EXPECT_EQ(layout.components[1].mirror, 2);
    EXPECT_EQ(layout.components[2].role, ComponentRole::extension);
    EXPECT_EQ(layout.components[3].role, ComponentRole::parity);
}

TEST(Lustre, refuses_every_value_that_is_cut_short) {
    for (const auto& whole :
         {plain({.stripe_count = 2, .osts = {1, 2}}),
          plain({.magic = v3, .stripe_count = 2, .osts = {1, 2}}), composite(progressive())}) {
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const std::span<const std::byte> cut = std::span(whole).first(size);
            const bool header_only = size == 32 || size == 48;
            if (!header_only) {
                EXPECT_THAT(refused(cut), HasSubstr("cannot read the layout")) << size;
            }
        }
    }
}

TEST(Lustre, refuses_unknown_versions) {
    EXPECT_THAT(refused(plain({.magic = 0x0BD90BD0})), HasSubstr("unknown version 0x0bd90bd0"));
    auto nested = progressive();
    nested[1].value = composite(progressive());
    EXPECT_THAT(refused(composite(nested)), HasSubstr("unknown version 0x0bd60bd0"));
}

TEST(Lustre, refuses_components_that_lie_outside) {
    auto value = composite(progressive());
    const std::size_t offset_of_second = 32 + 48 + 24;
    value[offset_of_second + 3] = std::byte{0x7F};
    EXPECT_THAT(refused(value), HasSubstr("has its component 1 at bytes"));
    auto backwards = progressive();
    backwards[1].begin = backwards[1].end + 1;
    EXPECT_THAT(refused(composite(backwards)), HasSubstr("has a component 1 from"));
    EXPECT_THAT(refused(composite({})), HasSubstr("has 0 components"));
}

TEST(Lustre, asks_for_a_layout) {
    const auto plain_value =
        encode_lustre({.stripe_count = 3, .stripe_bytes = 4 * mib, .first_ost = -1, .pool = ""});
    ASSERT_TRUE(plain_value.has_value());
    check::Image wanted;
    wanted.u32(0x0BD10BD0).u32(1).zeros(16).u32(4 << 20).u16(3).u16(0xFFFF);
    EXPECT_EQ(*plain_value, wanted.bytes());
    const auto in_pool =
        encode_lustre({.stripe_count = -1, .stripe_bytes = 0, .first_ost = 2, .pool = "flash"});
    ASSERT_TRUE(in_pool.has_value());
    check::Image other;
    other.u32(v3).u32(1).zeros(16).u32(0).u16(0xFFFF).u16(2).text("flash", 16);
    EXPECT_EQ(*in_pool, other.bytes());
}

TEST(Lustre, asks_for_nothing_that_lustre_does_not_take) {
    const auto why = [](const WantedLayout& wanted) {
        const auto value = encode_lustre(wanted);
        return value ? std::string("taken") : value.error().message;
    };
    EXPECT_THAT(why({.stripe_bytes = 4096}), HasSubstr("multiple of 64 KiB"));
    EXPECT_THAT(why({.stripe_bytes = std::int64_t{1} << 32}), HasSubstr("below 4 GiB"));
    EXPECT_THAT(why({.stripe_count = 2001}), HasSubstr("1 to 2000"));
    EXPECT_THAT(why({.first_ost = 65535}), HasSubstr("lfs osts"));
    EXPECT_THAT(why({.pool = "sixteen_letters!"}), HasSubstr("15 characters"));
}

}  // namespace
}  // namespace forebay::layout
