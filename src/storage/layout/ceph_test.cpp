// Decodes and encodes CephFS's layout texts.
#include "storage/layout/ceph.hpp"

#include "foundation/base/bytes.hpp"
#include "storage/layout/stripes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::layout {
namespace {

using testing::HasSubstr;

TEST(Ceph, reads_a_layout) {
    const auto layout =
        parse_ceph("stripe_unit=65536 stripe_count=3 object_size=4194304 pool=cephfs.a.data");
    ASSERT_TRUE(layout.has_value()) << layout.error().message;
    EXPECT_EQ(layout->source, LayoutSource::ceph);
    const Component& one = layout->components.at(0);
    EXPECT_EQ(one.stripe_bytes, 64 * kib);
    EXPECT_EQ(one.stripe_count, 3);
    EXPECT_EQ(one.object_bytes, 4 * mib);
    EXPECT_EQ(one.pool, "cephfs.a.data");
    EXPECT_EQ(stripes_of(*layout, 0), (FileStripes{3, 64 * kib}));
}

TEST(Ceph, one_stripe_changes_its_object_only_when_that_is_full) {
    const auto layout = parse_ceph("stripe_unit=65536 stripe_count=1 object_size=8388608 pool=3");
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(stripes_of(*layout, 0), (FileStripes{1, 8 * mib}));
}

TEST(Ceph, reads_a_namespace_apart_from_the_pool) {
    const auto layout = parse_ceph(
        "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool_namespace=mine pool=data");
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->components.at(0).pool, "data");
}

TEST(Ceph, refuses_what_is_no_layout) {
    for (const char* text :
         {"", "stripe_unit=65536", "stripe_unit=65536 stripe_count=x object_size=65536",
          "stripe_unit=0 stripe_count=1 object_size=65536",
          "stripe_unit=-65536 stripe_count=1 object_size=65536",
          "stripe_unit=65536 stripe_count=99999999999 object_size=65536",
          "stripe_unit=65536 stripe_count=1 object_size=65537"}) {
        const auto layout = parse_ceph(text);
        ASSERT_FALSE(layout.has_value()) << text;
        EXPECT_THAT(layout.error().message, HasSubstr("cannot read the layout"));
    }
}

TEST(Ceph, asks_for_what_is_said_and_keeps_the_rest) {
    const auto text = [](const WantedLayout& wanted) {
        return encode_ceph(wanted, ceph_default()).value();
    };
    EXPECT_EQ(text({.stripe_count = 3}), "stripe_unit=4194304 stripe_count=3 object_size=4194304");
    EXPECT_EQ(text({.stripe_count = 3, .stripe_bytes = 64 * kib}),
              "stripe_unit=65536 stripe_count=3 object_size=4194304");
    EXPECT_EQ(text({.stripe_bytes = 16 * mib}),
              "stripe_unit=16777216 stripe_count=1 object_size=16777216");
    EXPECT_EQ(text({.stripe_bytes = 3 * mib}),
              "stripe_unit=3145728 stripe_count=1 object_size=6291456");
    EXPECT_EQ(text({.stripe_count = 2, .pool = "fast"}),
              "stripe_unit=4194304 stripe_count=2 object_size=4194304 pool=fast");
}

TEST(Ceph, what_it_asks_for_can_be_read) {
    const auto text = encode_ceph({.stripe_count = 5, .stripe_bytes = 192 * kib}, ceph_default());
    ASSERT_TRUE(text.has_value());
    const auto layout = parse_ceph(*text);
    ASSERT_TRUE(layout.has_value()) << *text;
    EXPECT_EQ(stripes_of(*layout, 0), (FileStripes{5, 192 * kib}));
}

TEST(Ceph, asks_for_nothing_that_cephfs_does_not_take) {
    const auto why = [](const WantedLayout& wanted) {
        const auto text = encode_ceph(wanted, ceph_default());
        return text ? *text : text.error().message;
    };
    EXPECT_THAT(why({.stripe_bytes = 4096}), HasSubstr("multiple of 64 KiB"));
    EXPECT_THAT(why({.stripe_bytes = 256 * mib}), HasSubstr("up to 128 MiB"));
    EXPECT_THAT(why({.stripe_bytes = 64 * mib + 64 * kib}), testing::Not(HasSubstr("cannot")));
    EXPECT_THAT(why({.stripe_count = all_targets}), HasSubstr("does not know how many targets"));
    EXPECT_THAT(why({.stripe_count = all_targets}), HasSubstr("stripes over all targets"));
    EXPECT_THAT(why({.first_ost = 0}), HasSubstr("chooses its targets itself"));
}

}  // namespace
}  // namespace forebay::layout
