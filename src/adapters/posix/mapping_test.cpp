// Mappings are zero, shared and given back.
#include "adapters/posix/mapping.hpp"

#include "adapters/posix/futex.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

TEST(Mapping, IsZeroAndMovesItsOwnership) {
    auto made = Mapping::anonymous(8192);
    ASSERT_TRUE(made.has_value());
    Mapping other;
    other = std::move(*made);
    ASSERT_EQ(other.bytes().size(), 8192U);
    EXPECT_EQ(other.bytes()[8191], std::byte{0});
    other.bytes()[8191] = std::byte{1};
}

TEST(Mapping, TooLargeIsAnErrorThatSaysSo) {
    const auto made = Mapping::anonymous(std::numeric_limits<std::size_t>::max() / 2);
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().message.find("staging_bytes_max"), std::string::npos);
}

TEST(Futex, WakesAnotherProcess) {
    const auto made = Mapping::anonymous(4096);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zero is a valid Word
    auto& word = *reinterpret_cast<ports::Word*>(made->bytes().data());
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        while (word.load(std::memory_order_acquire) == 0) {
            futex_wait(word, 0);
        }
        ::_exit(0);
    }
    futex_wait_for(word, 0, std::chrono::milliseconds{1});
    word.store(1, std::memory_order_release);
    futex_wake(word);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace

}  // namespace forebay::adapters
