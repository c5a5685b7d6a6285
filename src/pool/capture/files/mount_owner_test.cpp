#include "pool/capture/files/mount_owner.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

namespace forebay::capture {
namespace {

const dev_t device = makedev(0, 57);

TEST(MountOwner, IsInTheOptionsOfAFuseFileSystem) {
    EXPECT_EQ(owner_in("98 28 0:57 / /a\\040b rw,nosuid shared:4 - fuse.forebay forebay:7 "
                       "rw,user_id=1000,group_id=100,default_permissions",
                       device),
              1000U);
    EXPECT_EQ(owner_in("98 28 0:57 / /a rw - fuse x rw,user_id=0,group_id=0", device), 0U);
}

TEST(MountOwner, IsNotThatOfAnotherFileSystem) {
    EXPECT_EQ(owner_in("98 28 0:5 / /a rw - fuse x rw,user_id=0", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:571 / /a rw - fuse x rw,user_id=0", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:57 / /user_id=0 rw - tmpfs x rw", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:57 / /a rw - tmpfs user_id=0 rw", device), std::nullopt);
}

TEST(MountOwner, IsNotInLinesThatLackIt) {
    EXPECT_EQ(owner_in("", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:57 / /a rw - fuse x rw", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:57 / /a rw - fuse x rw,user_id=", device), std::nullopt);
    EXPECT_EQ(owner_in("98 28 0:57 / /a rw", device), std::nullopt);
}

TEST(MountOwner, OfADeviceThatIsNotMountedIsNobody) {
    EXPECT_FALSE(is_own_mount(makedev(0, 0xfffff)));
}

}  // namespace
}  // namespace forebay::capture
