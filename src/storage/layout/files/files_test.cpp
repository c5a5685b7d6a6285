// Reads and sets layouts by name, on file systems in memory.
#include "storage/layout/files/files.hpp"

#include "foundation/base/bytes.hpp"
#include "storage/layout/files/files_check.hpp"
#include "storage/layout/stripes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::layout {
namespace {

using check::bytes_of;
using check::ImaginedFiles;
using testing::HasSubstr;

const WantedLayout three_of_64k{
    .stripe_count = 3,
    .stripe_bytes = 65536};  // NOLINT(bugprone-throwing-static-initialization,cert-err58-cpp)

std::string complaint_of(const LayoutChange& change) {
    return complaint("/f", change).value_or("no complaint");
}

TEST(Files, have_no_layout_where_nothing_is_striped) {
    ImaginedFiles files(LayoutSource::none);
    files.add_file("/f", 10);
    EXPECT_EQ(source_of(files, "/f"), LayoutSource::none);
    EXPECT_EQ(layout_of_file(files, "/f").value(), FileLayout{});
    EXPECT_EQ(describe(files, "/").value().layout.source, LayoutSource::none);
    const LayoutChange change = set_layout(files, "/new", three_of_64k);
    EXPECT_THAT(complaint_of(change), HasSubstr("has no layouts that can be set"));
    EXPECT_FALSE(files.has("/new"));
}

TEST(Files, that_are_new_get_their_layout) {
    for (const LayoutSource source : {LayoutSource::lustre, LayoutSource::ceph}) {
        ImaginedFiles files(source);
        const LayoutChange change = set_layout(files, "/f", three_of_64k);
        EXPECT_EQ(complaint_of(change), "no complaint");
        EXPECT_TRUE(change.made);
        EXPECT_EQ(change.source, source);
        EXPECT_EQ(stripes_of(layout_of_file(files, "/f").value(), 0), (FileStripes{3, 65536}));
    }
}

TEST(Files, that_are_empty_get_their_layout_on_ceph) {
    ImaginedFiles files(LayoutSource::ceph);
    files.add_file("/f", 0);
    const LayoutChange change = set_layout(files, "/f", {.stripe_count = 2});
    EXPECT_EQ(complaint_of(change), "no complaint");
    EXPECT_FALSE(change.made);
    EXPECT_EQ(stripes_of(change.layout, 0), (FileStripes{2, 4 * mib}));
}

TEST(Files, that_have_targets_keep_them_on_lustre_and_say_so) {
    ImaginedFiles files(LayoutSource::lustre);
    ASSERT_FALSE(set_layout(files, "/f", {.stripe_count = 1}).differs.has_value());
    const LayoutChange change = set_layout(files, "/f", {.stripe_count = 3});
    EXPECT_THAT(complaint_of(change), HasSubstr("1 stripe instead of 3 stripes"));
    EXPECT_THAT(complaint_of(change), HasSubstr("it was there before"));
}

TEST(Files, get_fewer_stripes_where_there_are_fewer_targets_and_say_so) {
    ImaginedFiles files(LayoutSource::lustre, 2);
    const LayoutChange change = set_layout(files, "/f", {.stripe_count = 3});
    EXPECT_EQ(change.layout.components.at(0).stripe_count, 2);
    EXPECT_THAT(complaint_of(change), HasSubstr("2 stripes instead of 3 stripes"));
}

TEST(Files, with_data_are_left_alone) {
    for (const LayoutSource source : {LayoutSource::lustre, LayoutSource::ceph}) {
        ImaginedFiles files(source);
        ASSERT_FALSE(set_layout(files, "/f", {.stripe_count = 2}).obstacle.has_value());
        files.add_file("/g", 0);
        ASSERT_FALSE(set_layout(files, "/g", {.stripe_count = 2}).obstacle.has_value());
        auto grown = files;
        grown.add_file("/h", 5).attributes = {};
        EXPECT_THAT(complaint("/h", set_layout(grown, "/h", {.stripe_count = 3})).value_or(""),
                    HasSubstr("it has 5 bytes already"));
    }
}

TEST(Files, with_data_and_the_wanted_layout_are_no_complaint) {
    ImaginedFiles files(LayoutSource::ceph);
    files.add_file("/f", 7);
    EXPECT_EQ(complaint_of(set_layout(files, "/f", {.stripe_count = 1})), "no complaint");
}

TEST(Files, that_exist_are_left_alone_where_that_is_wanted) {
    ImaginedFiles files(LayoutSource::ceph);
    files.add_file("/f", 0);
    const LayoutChange change =
        set_layout(files, "/f", {.stripe_count = 3}, ExistingFile::is_left_alone);
    ASSERT_TRUE(change.obstacle.has_value());
    EXPECT_EQ(change.obstacle->system, EEXIST);
    EXPECT_EQ(stripes_of(layout_of_file(files, "/f").value(), 0), (FileStripes{1, 4 * mib}));
}

TEST(Files, are_not_made_for_layouts_that_cannot_be) {
    for (const LayoutSource source : {LayoutSource::lustre, LayoutSource::ceph}) {
        ImaginedFiles files(source);
        const LayoutChange change = set_layout(files, "/f", {.stripe_bytes = 5000});
        EXPECT_THAT(complaint_of(change), HasSubstr("multiple of 64 KiB"));
        EXPECT_FALSE(change.made);
        EXPECT_FALSE(files.has("/f"));
    }
}

TEST(Files, that_cannot_be_made_are_an_obstacle) {
    ImaginedFiles files(LayoutSource::ceph);
    files.fail_next(EACCES);
    const LayoutChange change = set_layout(files, "/f", {.stripe_count = 3});
    ASSERT_TRUE(change.obstacle.has_value());
    EXPECT_EQ(change.obstacle->code, ErrorCode::access);
}

TEST(Files, that_were_made_for_a_layout_that_fails_are_removed_again) {
    for (const LayoutSource source : {LayoutSource::lustre, LayoutSource::ceph}) {
        ImaginedFiles files(source);
        files.fail_next_set(EINVAL);
        const LayoutChange change = set_layout_or_nothing(files, "/f", {.pool = "nosuch"});
        EXPECT_TRUE(change.obstacle.has_value());
        EXPECT_FALSE(change.made);
        EXPECT_FALSE(files.has("/f"));
        files.add_file("/g", 0);
        files.fail_next_set(EINVAL);
        EXPECT_TRUE(set_layout_or_nothing(files, "/g", {.pool = "nosuch"}).obstacle.has_value());
        EXPECT_TRUE(files.has("/g"));
    }
}

TEST(Files, below_a_missing_directory_are_told_of_it) {
    ImaginedFiles files(LayoutSource::ceph);
    const LayoutChange change = set_layout(files, "/nowhere/f", three_of_64k);
    EXPECT_THAT(complaint_of(change), HasSubstr("there is no directory /nowhere"));
}

TEST(Files, whose_layout_cannot_be_read_are_an_error) {
    ImaginedFiles files(LayoutSource::lustre);
    files.add_file("/f", 1).attributes[lustre_attribute] = bytes_of("xyz");
    const auto layout = layout_of_file(files, "/f");
    ASSERT_FALSE(layout.has_value());
    EXPECT_THAT(layout.error().message, HasSubstr("has 3 bytes"));
}

TEST(Directories, pass_on_what_the_nearest_above_has) {
    ImaginedFiles files(LayoutSource::ceph);
    for (const char* path : {"/a", "/a/b", "/a/b/c"}) {
        files.add_directory(path);
    }
    auto described = describe(files, "/a/b/c");
    ASSERT_TRUE(described.has_value());
    EXPECT_EQ(described->from, "");
    EXPECT_EQ(stripes_of(described->layout, 0), (FileStripes{1, 4 * mib}));
    ASSERT_FALSE(set_layout(files, "/a", {.stripe_count = 5}).differs.has_value());
    described = describe(files, "/a/b/c");
    ASSERT_TRUE(described.has_value());
    EXPECT_EQ(described->from, "/a");
    EXPECT_EQ(described->kind, ports::PathKind::directory);
    EXPECT_EQ(stripes_of(described->layout, 0), (FileStripes{5, 4 * mib}));
}

// Regression: the parent of "." was taken to be "." itself.
TEST(Directories, with_relative_names_look_above_where_they_begin) {
    ImaginedFiles files(LayoutSource::ceph);
    for (const char* path : {"a", ".", "..", "../.."}) {
        files.add_directory(path);
    }
    ASSERT_FALSE(set_layout(files, "../..", {.stripe_count = 5}).differs.has_value());
    for (const char* path : {"a", ".", ".."}) {
        const auto described = describe(files, path);
        ASSERT_TRUE(described.has_value());
        EXPECT_EQ(described->from, "../..") << path;
        EXPECT_EQ(stripes_of(described->layout, 0), (FileStripes{5, 4 * mib})) << path;
    }
}

TEST(Directories, on_lustre_have_a_default_that_may_be_nowhere) {
    ImaginedFiles files(LayoutSource::lustre);
    files.add_directory("/a");
    auto described = describe(files, "/a");
    ASSERT_TRUE(described.has_value());
    EXPECT_EQ(described->layout.source, LayoutSource::lustre);
    EXPECT_EQ(described->from, "");
    ASSERT_FALSE(set_layout(files, "/a", {.stripe_count = 4}).obstacle.has_value());
    described = describe(files, "/a");
    ASSERT_TRUE(described.has_value());
    EXPECT_EQ(described->from, "/a");
    EXPECT_EQ(described->layout.components.at(0).stripe_count, 4);
}

TEST(Directories, that_are_missing_are_an_error) {
    const ImaginedFiles files(LayoutSource::lustre);
    EXPECT_FALSE(describe(files, "/nowhere").has_value());
}

}  // namespace
}  // namespace forebay::layout
