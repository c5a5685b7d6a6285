// Another process finds the shared memory, and only the right one.
#include "storage/posix/shared_memory.hpp"

#include "storage/posix/forked_check.hpp"
#include "storage/posix/host.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

TEST(SharedMemory, AnotherProcessFindsTheSameBytes) {
    const auto made = SharedMemory::create(1 << 16);
    ASSERT_TRUE(made.has_value());
    const auto mine = SharedMemory::attach(made->name(), 1 << 16);
    ASSERT_TRUE(mine.has_value());
    EXPECT_EQ(mine->bytes()[5000], std::byte{0});
    const pid_t child = forked([&] {
        const auto theirs = SharedMemory::attach(made->name(), 1 << 16);
        if (theirs) {
            theirs->bytes()[5000] = std::byte{42};
        }
        return 0;
    });
    EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(mine->bytes()[5000], std::byte{42});
}

TEST(SharedMemory, AWrongDescriptorIsFoundOut) {
    const auto one = SharedMemory::create(4096);
    const auto two = SharedMemory::create(4096);
    SharedName name = one->name();
    name.descriptor = two->name().descriptor;
    const auto mapping = SharedMemory::attach(name, 4096);
    ASSERT_FALSE(mapping.has_value());
    EXPECT_EQ(mapping.error().system, ESTALE);
}

TEST(SharedMemory, ALimitOnFileSizeIsAnErrorNotASignal) {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{4096, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto made = SharedMemory::create(1 << 20);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().system, EFBIG);
}

TEST(Host, IsTheSameForAChildAndHasACore) {
    EXPECT_TRUE(host_number().has_value());
    EXPECT_EQ(host_number(), host_number());
    int cores = 0;
    for (const std::uint64_t word : usable_cores()) {
        cores += std::popcount(word);
    }
    EXPECT_GT(cores, 0);
}

}  // namespace

}  // namespace forebay::adapters
