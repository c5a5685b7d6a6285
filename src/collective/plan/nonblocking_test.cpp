// Every course that a non-blocking collective call can take.
#include "collective/plan/nonblocking.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::plan {
namespace {

struct Row {
    const char* name;
    SharedFacts facts;
    CourseChoice expected;
    Refusal own = Refusal::none;
};

constexpr SharedFacts in_the_pool{.pooled = true};

constexpr std::array rows{
    Row{"not in the pool", {}, {CallCourse::together, Refusal::none}},
    Row{"not in the pool, on several nodes", {.nodes = 2}, {CallCourse::together, Refusal::none}},
    Row{"in the pool", in_the_pool, {CallCourse::itself, Refusal::none}},
    Row{"on several nodes",
        {.pooled = true, .nodes = 2},
        {CallCourse::together, Refusal::several_nodes}},
    Row{"switched off",
        {.pooled = true, .disabled = true},
        {CallCourse::together, Refusal::disabled}},
    Row{"switched off, on several nodes",
        {.pooled = true, .nodes = 3, .disabled = true},
        {CallCourse::together, Refusal::disabled}},
    Row{"atomic", {.pooled = true, .atomic = true}, {CallCourse::together, Refusal::atomic_mode}},
    Row{"behind a call of the MPI",
        {.pooled = true, .mpi_under_way = true},
        {CallCourse::together, Refusal::none}},
    Row{"strange memory",
        in_the_pool,
        {CallCourse::alone, Refusal::memory_unsupported},
        Refusal::memory_unsupported},
    Row{"wrong arguments", in_the_pool, {CallCourse::alone, Refusal::other}, Refusal::other},
};

TEST(NonBlocking, TheCourseOfEachCall) {
    for (const Row& row : rows) {
        EXPECT_EQ(choose_course(row.facts, row.own), row.expected) << row.name;
    }
}

// If one rank made a collective call of the MPI and others did not, they would wait for one
// another.
TEST(NonBlocking, WhetherItIsCollectiveDoesNotDependOnOneRank) {
    for (const Row& row : rows) {
        const bool together =
            choose_course(row.facts, Refusal::none).course == CallCourse::together;
        for (auto own = Refusal::none; own <= Refusal::other;
             own = static_cast<Refusal>(static_cast<std::uint32_t>(own) + 1)) {
            EXPECT_EQ(choose_course(row.facts, own).course == CallCourse::together, together)
                << row.name << ", " << reason_of(own);
        }
    }
}

}  // namespace
}  // namespace forebay::plan
