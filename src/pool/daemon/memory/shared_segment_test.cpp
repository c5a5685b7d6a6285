// Memory that the daemon shares: what takes memory, and who may write.
#include "pool/daemon/memory/shared_segment.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::server {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Of the system, by now.
std::size_t memory_of(const Area& area) {
    struct stat found{};
    const auto fd = area.for_reading();
    EXPECT_TRUE(fd && ::fstat(fd->get(), &found) == 0);
    return static_cast<std::size_t>(found.st_blocks) * 512;
}

class Areas : public testing::TestWithParam<Writers> {};

TEST_P(Areas, TakeMemoryWhenItIsProvidedAndGiveItBack) {
    auto area = Area::make("test", 8 * mib, GetParam());
    ASSERT_TRUE(area);
    EXPECT_EQ(memory_of(*area), 0U);
    EXPECT_TRUE(area->provide(mib, mib));
    EXPECT_TRUE(area->provide_here(4 * mib, mib));
    EXPECT_EQ(memory_of(*area), 2 * mib);
    area->base()[mib] = std::byte{1};
    area->release(mib, mib);
    EXPECT_EQ(memory_of(*area), mib);
    EXPECT_EQ(area->base()[mib], std::byte{0});
}

INSTANTIATE_TEST_SUITE_P(OfTwoKinds, Areas,
                         testing::Values(Writers::daemon_that_releases,
                                         Writers::daemon_and_client));

TEST(Area, IsOnlyReadByWhoGetsItForReading) {
    for (const Writers writers : {Writers::daemon, Writers::daemon_that_releases}) {
        auto area = Area::make("test", mib, writers);
        ASSERT_TRUE(area);
        const auto fd = area->for_reading();
        ASSERT_TRUE(fd);
        EXPECT_EQ(::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0),
                  MAP_FAILED);
        EXPECT_LT(::pwrite(fd->get(), "x", 1, 0), 0);
    }
}

}  // namespace
}  // namespace forebay::server
