// Offsets by their definition: every byte of every file exactly once, in every order.
#include "benchmarks/ior/geometry.hpp"

#include "benchmarks/ior/file_names.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <set>

namespace forebay::ior {
namespace {

TestGeometry some(FileSharing sharing, OffsetOrder order) {
    TestGeometry made;
    made.tasks = 3;
    made.block_bytes = 32;
    made.transfer_bytes = 8;
    made.segments = 2;
    made.sharing = sharing;
    made.order = order;
    return made;
}

TEST(TransferOffsets, of_a_shared_file_go_by_segments_and_blocks) {
    const TransferOffsets offsets(some(FileSharing::shared, OffsetOrder::sequential), 1);
    std::vector<std::int64_t> made;
    for (std::int64_t i = 0; i < offsets.count(); ++i) {
        made.push_back(offsets(i).bytes());
    }
    EXPECT_EQ(made, (std::vector<std::int64_t>{32, 40, 48, 56, 128, 136, 144, 152}));
    const TransferOffsets own(some(FileSharing::file_per_process, OffsetOrder::sequential), 1);
    EXPECT_EQ(own(5).bytes(), 40);
}

RC_GTEST_PROP(TransferOffsets, cover_every_file_exactly_once, ()) {
    TestGeometry g;
    g.tasks = *rc::gen::inRange<std::int64_t>(1, 8);
    g.transfer_bytes = 8 * *rc::gen::inRange<std::int64_t>(1, 4);
    g.block_bytes = g.transfer_bytes * *rc::gen::inRange<std::int64_t>(1, 9);
    g.segments = *rc::gen::inRange<std::int64_t>(1, 5);
    g.sharing = *rc::gen::element(FileSharing::shared, FileSharing::file_per_process);
    g.order = *rc::gen::element(OffsetOrder::sequential, OffsetOrder::shuffled);
    g.order_seed = *rc::gen::arbitrary<std::uint64_t>();
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (std::int64_t task = 0; task < g.tasks; ++task) {
        const TransferOffsets offsets(g, task);
        for (std::int64_t i = 0; i < offsets.count(); ++i) {
            const std::int64_t at = offsets(i).bytes();
            RC_ASSERT(at >= 0 && at + g.transfer_bytes <= g.bytes_of_file());
            RC_ASSERT(at % g.transfer_bytes == 0);
            RC_ASSERT(seen.emplace(g.sharing == FileSharing::shared ? 0 : task, at).second);
        }
    }
    RC_ASSERT(static_cast<std::int64_t>(seen.size()) * g.transfer_bytes == g.bytes_of_all());
}

// IOR divided by zero for -z -z on write.
TEST(TransferOffsets, overlapping_ones_stay_inside) {
    TestGeometry g = some(FileSharing::shared, OffsetOrder::overlapping);
    g.segments = 250;
    const TransferOffsets offsets(g, 2);
    for (std::int64_t i = 0; i < offsets.count(); ++i) {
        const std::int64_t at = offsets(i).bytes();
        EXPECT_TRUE(at >= 0 && at < g.bytes_of_file() && at % 8 == 0);
    }
}

// IOR shuffles within a segment: io500's random run stops long before its 10 million segments.
TEST(TransferOffsets, shuffled_ones_begin_in_the_first_segment) {
    for (const FileSharing sharing : {FileSharing::shared, FileSharing::file_per_process}) {
        TestGeometry g = some(sharing, OffsetOrder::shuffled);
        g.segments = 10'000'000;
        const TransferOffsets offsets(g, 1);
        const std::int64_t segment = g.bytes_of_file() / g.segments;
        for (std::int64_t i = 0; i < 3 * g.transfers_of_block(); ++i) {
            EXPECT_EQ(offsets(i).bytes() / segment, i / g.transfers_of_block());
        }
    }
}

TEST(TransferOffsets, need_no_memory_for_ten_to_the_twelve_transfers) {
    TestGeometry g = some(FileSharing::file_per_process, OffsetOrder::shuffled);
    g.transfer_bytes = 4096;
    g.block_bytes = 1 << 30;
    g.segments = 10'000'000;
    const TransferOffsets offsets(g, 0);
    EXPECT_LT(offsets(offsets.count() - 1).bytes(), g.bytes_of_file());
}

TEST(TestGeometry, what_does_not_fit_is_refused) {
    IorOptions o;
    o.block_bytes = std::int64_t{1} << 50;
    o.segments = 100;
    EXPECT_TRUE(geometry_of(o, 2).has_value());
    EXPECT_FALSE(geometry_of(o, 1'000'000).has_value());
}

TEST(TaskReordering, constant_ones_go_to_another_node) {
    TaskReordering order;
    order.tasks = 8;
    order.tasks_of_node = 4;
    order.constant = true;
    EXPECT_EQ(order.source_of(1, 0), 5);
    EXPECT_EQ(order.source_of(6, 0), 2);
    EXPECT_EQ(order.source_of(1, 1), 1);
    order.by_block = false;
    EXPECT_EQ(order.source_of(7, 0), 0);
}

TEST(TaskReordering, of_nonsense_stays_among_the_tasks) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{-9}, most, -most - 1}) {
        for (const std::int64_t random : {0, 1, 2}) {
            TaskReordering order;
            order.tasks = 8;
            order.tasks_of_node = 4;
            order.task_per_node_offset = offset;
            order.random = random;
            order.constant = random == 0;
            for (std::int64_t task = 0; task < order.tasks; ++task) {
                for (const std::int64_t further : {0, 1}) {
                    const std::int64_t source = order.source_of(task, further);
                    EXPECT_TRUE(source >= 0 && source < order.tasks) << offset << ' ' << random;
                }
            }
        }
    }
}

RC_GTEST_PROP(TaskReordering, random_ones_are_at_least_so_far_away_and_permutations_are_ones, ()) {
    TaskReordering order;
    order.tasks = *rc::gen::inRange<std::int64_t>(2, 40);
    order.tasks_of_node = 1;
    order.seed = *rc::gen::arbitrary<std::uint64_t>();
    order.random = 1;
    for (std::int64_t task = 0; task < order.tasks; ++task) {
        RC_ASSERT(order.source_of(task, 0) != task);
    }
    order.random = 2;
    std::set<std::int64_t> sources;
    for (std::int64_t task = 0; task < order.tasks; ++task) {
        sources.insert(order.source_of(task, 0));
    }
    RC_ASSERT(static_cast<std::int64_t>(sources.size()) == order.tasks);
}

TEST(FileNames, the_kernel_knows_no_prefix_of_romio) {
    IorOptions o;
    o.test_file = "lustre:/scratch/f";
    EXPECT_EQ(file_name(o, 0, 0).on_disk, "lustre:/scratch/f");
    o.api = "MPIIO";
    EXPECT_EQ(file_name(o, 0, 0).path, "lustre:/scratch/f");
    EXPECT_EQ(file_name(o, 0, 0).on_disk, "/scratch/f");
    EXPECT_EQ(shown_name(o).on_disk, "/scratch/f");
    o.file_per_process = true;
    o.unique_directory = true;
    EXPECT_EQ(file_name(o, 3, 0).directory, "/scratch/3");
    o.test_file = "dir/a:b";
    EXPECT_EQ(file_name(o, 3, 0).on_disk, file_name(o, 3, 0).path);
}

// Regression: IOR inserts the number after the first letter, f0/.00000000; ours was ./0/f.00000000.
TEST(FileNames, a_bare_name_in_a_directory_of_its_own_is_that_of_ior) {
    IorOptions o;
    o.file_per_process = true;
    o.unique_directory = true;
    o.test_file = "f";
    EXPECT_EQ(file_name(o, 0, 0).path, "f0/.00000000");
    EXPECT_EQ(file_name(o, 0, 0).directory, "f0");
    o.test_file = "tf";
    EXPECT_EQ(file_name(o, 12, 0).path, "t12/f.00000012");
    o.test_file = "/f";
    EXPECT_EQ(file_name(o, 0, 0).path, "/0/f.00000000");
}

// Minus the smallest number is no 64-bit number: an earlier version computed it nevertheless.
TEST(ReorderSeed, may_be_the_smallest_number) {
    constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(reorder_seed(smallest, 3), measure::mixed(std::uint64_t{1} << 63, 3));
    EXPECT_EQ(reorder_seed(-5, 3), measure::mixed(5, 3));
    EXPECT_EQ(reorder_seed(5, 3), 5U);
}

TEST(FileNames, are_those_of_ior) {
    IorOptions o;
    o.test_file = "dir/tf";
    EXPECT_EQ(file_name(o, 3, 1).path, "dir/tf");
    o.multi_file = true;
    EXPECT_EQ(file_name(o, 3, 1).path, "dir/tf.1");
    o.file_per_process = true;
    EXPECT_EQ(file_name(o, 3, 1).path, "dir/tf.00000003.1");
    o.unique_directory = true;
    EXPECT_EQ(file_name(o, 3, 1).path, "dir/3/tf.00000003.1");
    EXPECT_EQ(file_name(o, 3, 1).directory, "dir/3");
    o.test_file = "./tf";
    EXPECT_EQ(shown_name(o).path, "./0/tf.00000000");
    o.unique_directory = false;
    o.test_file = "a/x@b/y";
    EXPECT_EQ(file_name(o, 1, 0).path, "b/y.00000001.0");
    EXPECT_EQ(file_name(o, 2, 0).path, "a/x.00000002.0");
    EXPECT_EQ(identity(o, 1), "y");
}

}  // namespace
}  // namespace forebay::ior
