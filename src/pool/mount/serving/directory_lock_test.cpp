#include "pool/mount/serving/directory_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::mount {
namespace {

// No directory has such an inode.
struct stat nowhere() {
    struct stat found{};
    found.st_dev = ~dev_t{0};
    found.st_ino = static_cast<ino_t>(::getpid());
    return found;
}

std::optional<DirectoryLock> taken() {
    auto lock = DirectoryLock::take(nowhere());
    EXPECT_TRUE(lock) << lock.error().message;
    return lock ? std::move(*lock) : std::nullopt;
}

TEST(directory_lock, is_had_by_one_at_a_time_and_ends_with_it) {
    auto first = taken();
    ASSERT_TRUE(first);
    EXPECT_FALSE(taken());
    first.reset();
    auto second = taken();
    ASSERT_TRUE(second);
    second->remove();
}

TEST(directory_lock, does_not_remove_the_file_of_another) {
    auto first = taken();
    ASSERT_TRUE(first);
    first->remove();
    auto second = taken();
    ASSERT_TRUE(second);
    first->remove();
    EXPECT_FALSE(taken()) << "the file of the second was removed";
    second->remove();
}

}  // namespace
}  // namespace forebay::mount
