// Memory that the daemon shares: when pages take memory, and who may write.
#include "pool/daemon/memory/shared_segment.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::daemon {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// How much memory the pages of the segment take now.
std::size_t memory_of(const SharedSegment& segment) {
    struct stat found{};
    const auto fd = segment.for_reading();
    EXPECT_TRUE(fd && ::fstat(fd->get(), &found) == 0);
    return static_cast<std::size_t>(found.st_blocks) * 512;
}

class Areas : public testing::TestWithParam<SegmentWriters> {};

TEST_P(Areas, TakeMemoryWhenItIsProvidedAndGiveItBack) {
    auto segment = SharedSegment::make("test", 8 * mib, GetParam());
    ASSERT_TRUE(segment);
    EXPECT_EQ(memory_of(*segment), 0U);
    EXPECT_TRUE(segment->provide(mib, mib));
    EXPECT_TRUE(segment->provide_here(4 * mib, mib));
    EXPECT_EQ(memory_of(*segment), 2 * mib);
    segment->base()[mib] = std::byte{1};
    segment->release(mib, mib);
    EXPECT_EQ(memory_of(*segment), mib);
    EXPECT_EQ(segment->base()[mib], std::byte{0});
}

INSTANTIATE_TEST_SUITE_P(OfTwoKinds, Areas,
                         testing::Values(SegmentWriters::daemon_that_releases,
                                         SegmentWriters::daemon_and_client));

TEST(SharedSegment, IsOnlyReadByWhoGetsItForReading) {
    for (const SegmentWriters writers :
         {SegmentWriters::daemon, SegmentWriters::daemon_that_releases}) {
        auto segment = SharedSegment::make("test", mib, writers);
        ASSERT_TRUE(segment);
        const auto fd = segment->for_reading();
        ASSERT_TRUE(fd);
        EXPECT_EQ(::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0),
                  MAP_FAILED);
        EXPECT_LT(::pwrite(fd->get(), "x", 1, 0), 0);
    }
}

}  // namespace
}  // namespace forebay::daemon
