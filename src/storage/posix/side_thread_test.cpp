// Calls are made in order, and none after one that failed.
#include "storage/posix/side_thread.hpp"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace forebay::adapters {
namespace {

class SideThreadTest : public testing::Test {
protected:
    SideThreadTest() : bell_{::eventfd(0, EFD_CLOEXEC)} {}
    ~SideThreadTest() override { ::close(bell_); }

    int bell_;
};

TEST_F(SideThreadTest, MakesCallsInOrderAndRings) {
    SideThread side{bell_};
    EXPECT_FALSE(side.ended());
    std::atomic<int> made = 0;
    side.begin([&] { return made++ == 0 ? 0 : EINVAL; });
    side.begin([&] { return made++ == 1 ? 0 : EINVAL; });
    EXPECT_EQ(side.wait(), 0);
    EXPECT_EQ(side.wait(), 0);
    EXPECT_FALSE(side.ended());
    std::uint64_t rings = 0;
    EXPECT_EQ(::read(bell_, &rings, sizeof rings), static_cast<ssize_t>(sizeof rings));
    EXPECT_GT(rings, 0U);
}

TEST_F(SideThreadTest, MakesNoneThatWaitsBehindOneThatFails) {
    SideThread side{bell_};
    std::atomic<bool> goes_on = false;
    std::atomic<bool> made = false;
    side.begin([&] {
        goes_on.wait(false);
        return EIO;
    });
    side.begin([&] {
        made = true;
        return 0;
    });
    goes_on = true;
    goes_on.notify_all();
    EXPECT_EQ(side.wait(), EIO);
    EXPECT_EQ(side.wait(), ECANCELED);
    EXPECT_FALSE(made);
    side.begin([] { return 0; });
    EXPECT_EQ(side.wait(), 0) << "that was begun later";
}

}  // namespace
}  // namespace forebay::adapters
