// Cached communicators: when they are found, kept and given up.
#include "collective/mpi/cached_communicator.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>

namespace forebay::interposer::scripted {
namespace {

constexpr CommunicatorNeeds needs{0, 1 << 20};
constexpr MPI_Comm some_ranks = 77;
constexpr MPI_Comm other_ranks = 78;

class CachedCommunicatorsOf : public testing::Test {
protected:
    CachedCommunicatorsOf() { begin(); }

    CachedCommunicator* add(MPI_Comm communicator) {
        auto made = make_cached_communicator(communicator, cached_communicators_.next_label(),
                                             needs, cached_communicators_.has_room());
        made->files = 1;
        return cached_communicators_.adopt(std::move(made));
    }

    CachedCommunicators cached_communicators_;
};

TEST_F(CachedCommunicatorsOf, TheSameRanksUseOneAgain) {
    CachedCommunicator* cached_communicator = add(some_ranks);
    ASSERT_TRUE(cached_communicator->group);
    EXPECT_TRUE(cached_communicator->kept);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, needs, false), cached_communicator);
    EXPECT_EQ(cached_communicators_.find_label(some_ranks, cached_communicator->label),
              cached_communicator);
    EXPECT_EQ(cached_communicators_.find_free(other_ranks, needs, false), nullptr);
    EXPECT_EQ(cached_communicators_.find_label(other_ranks, cached_communicator->label), nullptr);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, {2, 1 << 20}, false), nullptr);
}

TEST_F(CachedCommunicatorsOf, FilesOfTwoThreadsDoNotMeet) {
    CachedCommunicator* cached_communicator = add(some_ranks);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, needs, true), nullptr);
    EXPECT_EQ(cached_communicators_.release(cached_communicator), nullptr);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, needs, true), cached_communicator);
}

TEST_F(CachedCommunicatorsOf, OneThatIsNotKeptGoesWithItsLastFile) {
    script().others = {0};  // another rank has no room
    CachedCommunicator* cached_communicator = add(some_ranks);
    ASSERT_FALSE(cached_communicator->kept);
    cached_communicator->files = 2;
    EXPECT_EQ(cached_communicators_.release(cached_communicator), nullptr);
    EXPECT_NE(cached_communicators_.release(cached_communicator), nullptr);
    EXPECT_EQ(script().calls("Comm_free"), 1);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, needs, false), nullptr);
}

TEST_F(CachedCommunicatorsOf, NoMoreThanSomeAreKept) {
    for (std::size_t i = 0; i < CachedCommunicators::kept_max; ++i) {
        EXPECT_TRUE(cached_communicators_.has_room());
        EXPECT_TRUE(add(100 + static_cast<MPI_Comm>(i))->kept);
    }
    EXPECT_FALSE(cached_communicators_.has_room());
    EXPECT_FALSE(add(some_ranks)->kept);
}

TEST_F(CachedCommunicatorsOf, OneWithoutACommunicatorIsNeverFound) {
    script().failing["Comm_create"] = MPI_ERR_OTHER;
    CachedCommunicator* cached_communicator = add(some_ranks);
    EXPECT_FALSE(cached_communicator->group);
    EXPECT_FALSE(cached_communicator->kept);
    EXPECT_EQ(cached_communicators_.find_free(some_ranks, needs, false), nullptr);
    EXPECT_NE(cached_communicators_.release(cached_communicator), nullptr);
}

// Regression: a rank on which one of these failed, but on no other, had no communicator or wrong
// ideas of the nodes, and the others waited for it.
TEST_F(CachedCommunicatorsOf, TheJobEndsWhereARankCannotAgree) {
    for (const char* name : {"Allgather", "Allreduce"}) {
        script().failing[name] = MPI_ERR_OTHER;
        EXPECT_DEATH(add(some_ranks), "all ranks .MPI says") << name;
        script().failing.clear();
    }
}

// Regression: at the end all were freed, also those that open files still used, which crashed.
TEST_F(CachedCommunicatorsOf, AtTheEndThoseOfOpenFilesStay) {
    CachedCommunicator* used = add(some_ranks);
    CachedCommunicator* idle = add(other_ranks);
    static_cast<void>(cached_communicators_.release(idle));
    EXPECT_EQ(cached_communicators_.stop_keeping().size(), 1U);
    EXPECT_EQ(script().calls("Comm_free"), 1);
    EXPECT_EQ(cached_communicators_.find_label(some_ranks, used->label), used);
    EXPECT_FALSE(cached_communicators_.has_room());
    EXPECT_NE(cached_communicators_.release(used), nullptr);
    EXPECT_EQ(script().calls("Comm_free"), 2);
    EXPECT_TRUE(script().made_of.empty());
}

TEST_F(CachedCommunicatorsOf, AfterTheMpiIsOverNothingIsFreed) {
    add(some_ranks);
    script().finalized = true;
    cached_communicators_ = CachedCommunicators();
    EXPECT_EQ(script().calls("Comm_free"), 0);
}

}  // namespace
}  // namespace forebay::interposer::scripted
