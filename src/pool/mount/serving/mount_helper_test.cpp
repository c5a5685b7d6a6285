#include "pool/mount/serving/mount_helper.hpp"

#include <gmock/gmock.h>

namespace forebay::mount {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct RefusalCase {
    const char* said;
    const char* told;
};

class KnownRefusals : public testing::TestWithParam<RefusalCase> {};

// The messages are those of fusermount3 3.10 to 3.17 (util/fusermount.c).
INSTANTIATE_TEST_SUITE_P(
    Each, KnownRefusals,
    testing::Values(
        RefusalCase{"fusermount3: user has no write access to mountpoint /x\n", "of your own."},
        RefusalCase{"fusermount3: mountpoint /x not owned by user\n", "sticky bit"},
        RefusalCase{"fusermount3: mounting over filesystem type 0x858458f6 is forbidden\n",
                    "on its "
                    "list"},
        RefusalCase{"fusermount3: option allow_other only allowed if 'user_allow_other' is set in "
                    "/etc/fuse.conf\n",
                    "user_allow_other"},
        RefusalCase{"fusermount3: fuse device not found, try 'modprobe fuse' first\n",
                    "no /dev/fuse"},
        RefusalCase{"fusermount3: failed to open /dev/fuse: Permission denied\n",
                    "not open /dev/fuse"},
        RefusalCase{"fusermount3: too many FUSE filesystems mounted; mount_max=N can be set in "
                    "/etc/fuse.conf\n",
                    "mount_max"},
        RefusalCase{"fusermount3: failed to access mountpoint /x: Permission denied\n", "reached"},
        RefusalCase{"fusermount3: mount failed: Operation not permitted\n", "set-uid"}));

TEST_P(KnownRefusals, say_why_and_what_to_do) {
    const Error told = helper_error("/x", GetParam().said);
    EXPECT_THAT(told.message, StartsWith("cannot mount over /x ("));
    EXPECT_THAT(told.message, HasSubstr(GetParam().told));
    EXPECT_THAT(told.message, testing::EndsWith("."));
}

TEST(mount_helper, shows_an_unknown_message_as_it_is) {
    EXPECT_THAT(helper_error("/x", "fusermount3: something new\nmore\n").message,
                HasSubstr("(fusermount3 says: something new)"));
    EXPECT_THAT(helper_error("/x", "").message, HasSubstr("says: nothing"));
}

}  // namespace
}  // namespace forebay::mount
