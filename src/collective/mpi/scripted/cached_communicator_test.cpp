// Ranks that open files together, kept for the next file.
#include "collective/mpi/cached_communicator.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>

namespace forebay::entry::scripted {
namespace {

constexpr CircleNeeds needs{0, 1 << 20};
constexpr MPI_Comm some_ranks = 77;
constexpr MPI_Comm other_ranks = 78;

class CirclesOf : public testing::Test {
protected:
    CirclesOf() { begin(); }

    Circle* add(MPI_Comm communicator) {
        auto made = make_circle(communicator, circles_.next_label(), needs, circles_.has_room());
        made->files = 1;
        return circles_.adopt(std::move(made));
    }

    Circles circles_;
};

TEST_F(CirclesOf, TheSameRanksUseOneAgain) {
    Circle* circle = add(some_ranks);
    ASSERT_TRUE(circle->group);
    EXPECT_TRUE(circle->kept);
    EXPECT_EQ(circles_.find_free(some_ranks, needs, false), circle);
    EXPECT_EQ(circles_.find_label(some_ranks, circle->label), circle);
    EXPECT_EQ(circles_.find_free(other_ranks, needs, false), nullptr);
    EXPECT_EQ(circles_.find_label(other_ranks, circle->label), nullptr);
    EXPECT_EQ(circles_.find_free(some_ranks, {2, 1 << 20}, false), nullptr);
}

TEST_F(CirclesOf, FilesOfTwoThreadsDoNotMeet) {
    Circle* circle = add(some_ranks);
    EXPECT_EQ(circles_.find_free(some_ranks, needs, true), nullptr);
    EXPECT_EQ(circles_.release(circle), nullptr);
    EXPECT_EQ(circles_.find_free(some_ranks, needs, true), circle);
}

TEST_F(CirclesOf, OneThatIsNotKeptGoesWithItsLastFile) {
    script().others = {0};  // another rank has no room
    Circle* circle = add(some_ranks);
    ASSERT_FALSE(circle->kept);
    circle->files = 2;
    EXPECT_EQ(circles_.release(circle), nullptr);
    EXPECT_NE(circles_.release(circle), nullptr);
    EXPECT_EQ(script().calls("Comm_free"), 1);
    EXPECT_EQ(circles_.find_free(some_ranks, needs, false), nullptr);
}

TEST_F(CirclesOf, NoMoreThanSomeAreKept) {
    for (std::size_t i = 0; i < Circles::kept_max; ++i) {
        EXPECT_TRUE(circles_.has_room());
        EXPECT_TRUE(add(100 + static_cast<MPI_Comm>(i))->kept);
    }
    EXPECT_FALSE(circles_.has_room());
    EXPECT_FALSE(add(some_ranks)->kept);
}

TEST_F(CirclesOf, OneWithoutACommunicatorIsNeverFound) {
    script().failing["Comm_create"] = MPI_ERR_OTHER;
    Circle* circle = add(some_ranks);
    EXPECT_FALSE(circle->group);
    EXPECT_FALSE(circle->kept);
    EXPECT_EQ(circles_.find_free(some_ranks, needs, false), nullptr);
    EXPECT_NE(circles_.release(circle), nullptr);
}

// Once a segfault: all were freed, also those that open files still used.
TEST_F(CirclesOf, AtTheEndThoseOfOpenFilesStay) {
    Circle* used = add(some_ranks);
    Circle* idle = add(other_ranks);
    static_cast<void>(circles_.release(idle));
    EXPECT_EQ(circles_.stop_keeping().size(), 1U);
    EXPECT_EQ(script().calls("Comm_free"), 1);
    EXPECT_EQ(circles_.find_label(some_ranks, used->label), used);
    EXPECT_FALSE(circles_.has_room());
    EXPECT_NE(circles_.release(used), nullptr);
    EXPECT_EQ(script().calls("Comm_free"), 2);
    EXPECT_TRUE(script().made_of.empty());
}

TEST_F(CirclesOf, AfterTheMpiIsOverNothingIsFreed) {
    add(some_ranks);
    script().finalized = true;
    circles_ = Circles();
    EXPECT_EQ(script().calls("Comm_free"), 0);
}

}  // namespace
}  // namespace forebay::entry::scripted
