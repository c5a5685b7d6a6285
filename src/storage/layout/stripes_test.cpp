// The component that represents a file, and the differences between a layout and the wanted one.
#include "storage/layout/stripes.hpp"

#include "foundation/base/bytes.hpp"

#include <gtest/gtest.h>

namespace forebay::layout {
namespace {

Component component(std::int64_t begin, std::int64_t end, std::int32_t count) {
    Component one;
    one.begin = begin;
    one.end = end;
    one.stripe_count = count;
    one.stripe_bytes = mib;
    return one;
}

FileLayout progressive() {
    FileLayout layout{
        LayoutSource::lustre,
        {component(0, mib, 0), component(mib, 256 * mib, 2), component(256 * mib, end_of_file, 8)}};
    layout.components[0].placement = DataPlacement::metadata;
    return layout;
}

TEST(FileStripes, nothing_known_is_one_target) {
    EXPECT_EQ(stripes_of(FileLayout{}, 0), (FileStripes{1, 0}));
}

TEST(FileStripes, an_empty_file_is_laid_out_by_its_last_component) {
    EXPECT_EQ(stripes_of(progressive(), 0), (FileStripes{8, mib}));
}

TEST(FileStripes, a_file_is_laid_out_by_the_component_that_holds_most_of_it) {
    // Data-on-MDT: stored with the metadata.
    EXPECT_EQ(stripes_of(progressive(), mib / 2), (FileStripes{1, 0}));
    EXPECT_EQ(stripes_of(progressive(), 100 * mib), (FileStripes{2, mib}));
    EXPECT_EQ(stripes_of(progressive(), 500 * mib), (FileStripes{2, mib}));
    EXPECT_EQ(stripes_of(progressive(), 600 * mib), (FileStripes{8, mib}));
}

TEST(FileStripes, extensions_parity_and_empty_ranges_hold_nothing) {
    FileLayout layout{LayoutSource::lustre,
                      {component(0, 64 * mib, 4), component(64 * mib, 64 * mib, 5),
                       component(64 * mib, end_of_file, 6), component(0, end_of_file, 7)}};
    layout.components[2].role = ComponentRole::extension;
    layout.components[3].role = ComponentRole::parity;
    EXPECT_EQ(stripes_of(layout, 0), (FileStripes{4, mib}));
}

TEST(FileStripes, of_mirrors_the_one_that_is_written_to) {
    FileLayout layout{
        LayoutSource::lustre,
        {component(0, end_of_file, 1), component(0, end_of_file, 2), component(0, end_of_file, 3)}};
    for (std::int32_t i = 0; i < 3; ++i) {
        layout.components[static_cast<std::size_t>(i)].mirror = i + 1;
    }
    EXPECT_EQ(stripes_of(layout, 0).targets, 1);
    layout.components[0].stale = true;
    EXPECT_EQ(stripes_of(layout, 0).targets, 2);
    layout.components[2].preferred = true;
    EXPECT_EQ(stripes_of(layout, 0).targets, 3);
}

TEST(FileStripes, counts_that_are_not_known_count_as_one) {
    EXPECT_EQ(stripes_of({LayoutSource::lustre, {component(0, end_of_file, all_targets)}}, 0),
              (FileStripes{1, mib}));
    EXPECT_EQ(stripes_of({LayoutSource::lustre, {component(0, end_of_file, 0)}}, 0),
              (FileStripes{1, mib}));
}

TEST(FileStripes, of_a_file_that_is_elsewhere_there_are_none) {
    FileLayout layout{LayoutSource::lustre, {component(0, end_of_file, 4)}};
    layout.components[0].placement = DataPlacement::released;
    EXPECT_EQ(chosen(layout, 0), nullptr);
    EXPECT_EQ(stripes_of(layout, 0), (FileStripes{1, 0}));
}

TEST(Difference, is_none_where_all_that_was_said_came_true) {
    const FileLayout layout{LayoutSource::lustre, {component(0, end_of_file, 3)}};
    EXPECT_EQ(difference({.stripe_count = 3}, layout), std::nullopt);
    EXPECT_EQ(difference({.stripe_bytes = mib}, layout), std::nullopt);
    EXPECT_EQ(difference({.stripe_count = 3, .stripe_bytes = mib}, layout), std::nullopt);
}

TEST(Difference, names_what_did_not_come_true) {
    FileLayout layout{LayoutSource::lustre, {component(0, end_of_file, 1)}};
    layout.components[0].osts = {4};
    layout.components[0].pool = "disk";
    EXPECT_EQ(difference({.stripe_count = 3}, layout), "1 stripe instead of 3 stripes");
    EXPECT_EQ(difference({.stripe_count = 3, .stripe_bytes = 65536}, layout),
              "1 stripe instead of 3 stripes, stripes of 1048576 bytes instead of 65536");
    EXPECT_EQ(difference({.first_ost = 2}, layout), "first target 4 instead of 2");
    EXPECT_EQ(difference({.pool = "flash"}, layout), "pool \"disk\" instead of \"flash\"");
    EXPECT_EQ(difference({.stripe_count = 3}, FileLayout{}), "no stripes");
}

TEST(Difference, all_targets_are_as_many_as_were_chosen) {
    FileLayout layout{LayoutSource::lustre, {component(0, end_of_file, 2)}};
    EXPECT_EQ(difference({.stripe_count = all_targets}, layout),
              "2 stripes instead of stripes over all targets");
    layout.components[0].osts = {0, 1};
    EXPECT_EQ(difference({.stripe_count = all_targets}, layout), std::nullopt);
}

}  // namespace
}  // namespace forebay::layout
