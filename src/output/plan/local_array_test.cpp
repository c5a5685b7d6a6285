// The patch goes to the file without its halo, and comes back to where it was.
#include "output/plan/local_array.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace forebay::output {
namespace {

using Numbers = std::vector<std::int32_t>;

Numbers packed(const LocalArray& array, const Numbers& memory) {
    Numbers made(static_cast<std::size_t>(array.packed_elements()));
    array.pack(reinterpret_cast<const std::byte*>(memory.data()), sizeof(std::int32_t),
               std::as_writable_bytes(std::span(made)));
    return made;
}

TEST(LocalArray, LeavesTheHaloOut) {
    const std::vector<std::int64_t> count{2, 3};
    const std::vector<std::int64_t> halo{1, 2};
    const Result<LocalArray> array = LocalArray::with_halo(count, halo);
    ASSERT_TRUE(array.has_value());
    ASSERT_EQ(array->elements(), 4 * 7);
    Numbers memory(28);
    std::iota(memory.begin(), memory.end(), 0);
    const Numbers inner{9, 10, 11, 16, 17, 18};
    EXPECT_EQ(packed(*array, memory), inner);

    Numbers target(28, -1);
    array->unpack(std::as_bytes(std::span(inner)), sizeof(std::int32_t),
                  reinterpret_cast<std::byte*>(target.data()));
    EXPECT_EQ(packed(*array, target), inner);
    EXPECT_EQ(std::ranges::count(target, -1), 28 - 6);
}

TEST(LocalArray, OfAnEmptyPatchNeedsNoMemory) {
    const std::vector<std::int64_t> count{0, 3};
    const std::vector<std::int64_t> halo{1, 1};
    const Result<LocalArray> array = LocalArray::with_halo(count, halo);
    ASSERT_TRUE(array.has_value());
    EXPECT_EQ(array->elements(), 0);
    array->pack(nullptr, 8, {});
}

TEST(LocalArray, RefusesAHaloThatCannotBe) {
    const std::vector<std::int64_t> count{2};
    for (const std::int64_t halo : {std::int64_t{-1}, INT64_MAX}) {
        EXPECT_FALSE(LocalArray::with_halo(count, std::vector{halo}));
    }
}

TEST(LocalArray, TakesMappedElementsInTheOrderOfTheFile) {
    const LocalArray array = LocalArray::mapped(4, {3, 0, 1});
    EXPECT_EQ(packed(array, {10, 11, 12, 13}), (Numbers{13, 10, 11}));
    Numbers target(4, -1);
    const Numbers file{13, 10, 11};
    array.unpack(std::as_bytes(std::span(file)), sizeof(std::int32_t),
                 reinterpret_cast<std::byte*>(target.data()));
    EXPECT_EQ(target, (Numbers{10, 11, -1, 13}));
}

}  // namespace
}  // namespace forebay::output
