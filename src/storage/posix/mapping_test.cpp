// Mappings are zero, shared and can be given back.
#include "storage/posix/mapping.hpp"

#include "storage/posix/forked_check.hpp"
#include "storage/posix/futex.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

TEST(MemoryMapping, IsZeroAndMovesItsOwnership) {
    auto made = MemoryMapping::anonymous(8192);
    ASSERT_TRUE(made.has_value());
    MemoryMapping other;
    other = std::move(*made);
    ASSERT_EQ(other.bytes().size(), 8192U);
    EXPECT_EQ(other.bytes()[8191], std::byte{0});
    other.bytes()[8191] = std::byte{1};
}

TEST(MemoryMapping, TooLargeIsAnErrorThatSaysSo) {
    const auto made = MemoryMapping::anonymous(std::numeric_limits<std::size_t>::max() / 2);
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().message.find("staging_bytes_max"), std::string::npos);
}

TEST(MemoryMapping, GivesPagesBackToTheSystem) {
    constexpr std::size_t size = 1 << 20;
    const int fd = ::memfd_create("test", MFD_CLOEXEC);
    ASSERT_EQ(::ftruncate(fd, size), 0);
    auto made = MemoryMapping::of_file(fd, size);
    ASSERT_TRUE(made.has_value());
    std::ranges::fill(made->bytes(), std::byte{7});
    made->give_back(4096 + 1);
    struct stat state{};
    ASSERT_EQ(::fstat(fd, &state), 0);
    EXPECT_EQ(state.st_blocks, 2 * 4096 / 512);
    EXPECT_EQ(made->bytes()[8191], std::byte{7});
    EXPECT_EQ(made->bytes()[8192], std::byte{0});
    ::close(fd);
}

TEST(Futex, WakesAnotherProcess) {
    const auto made = MemoryMapping::anonymous(4096);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zero is a valid Word
    auto& word = *reinterpret_cast<ports::Word*>(made->bytes().data());
    const pid_t child = forked([&] {
        while (word.load(std::memory_order_acquire) == 0) {
            futex_wait(word, 0);
        }
        return 0;
    });
    futex_wait_for(word, 0, std::chrono::milliseconds{1});
    word.store(1, std::memory_order_release);
    futex_wake(word);
    EXPECT_EQ(status_of(child), 0);
}

}  // namespace

}  // namespace forebay::adapters
