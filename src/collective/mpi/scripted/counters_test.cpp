// The counters of a file, and how they come into the record.
#include "collective/mpi/counters.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace forebay::interposer::scripted {
namespace {

std::size_t number_of(std::string_view name) {
    for (std::size_t i = 0; i < function_count; ++i) {
        if (name == function_names[i]) {
            return i;
        }
    }
    return function_count;
}

ports::CallRecord written(std::int64_t bytes) {
    ports::CallRecord record;
    record.bytes = Length{bytes};
    record.requests = 2;
    record.total_ns = 10;
    return record;
}

class CountersOf : public testing::Test {
protected:
    CountersOf() { begin(); }
    record::FileLine line(MPI_Comm communicator = MPI_COMM_NULL) {
        record::FileLine line;
        counters_.fill(line, communicator, "file of one rank");
        return line;
    }

    CallCounters counters_{true};
};

TEST_F(CountersOf, CallsAddUpByDirection) {
    ports::CallRecord first = written(100);
    first.lent = Length{1024};
    counters_.call(first);
    counters_.call(written(11));
    ports::CallRecord read = written(5);
    read.direction = IoDirection::read;
    read.bypassed = true;
    counters_.call(read);
    const record::FileLine told = line();
    EXPECT_EQ(told.write.calls, 2);
    EXPECT_EQ(told.write.bytes, 111);
    EXPECT_EQ(told.write.requests, 4);
    EXPECT_EQ(told.write.total_ns, 20);
    EXPECT_EQ(told.write.bypassed_calls, 0);
    EXPECT_EQ(told.write.lent_bytes, 1024);
    EXPECT_EQ(told.read.bytes, 5);
    EXPECT_EQ(told.read.bypassed_calls, 1);
}

TEST_F(CountersOf, WhatIsLeftIsToldByFunctionAndReason) {
    const std::size_t all = number_of("MPI_File_write_at_all");
    counters_.passed(all, engine::Refusal::atomic_mode, 8);
    counters_.passed(all, engine::Refusal::atomic_mode, 8);
    counters_.passed(all, engine::Refusal::none, -1);
    const record::FileLine told = line();
    ASSERT_EQ(told.passed_through.size(), 2U);
    EXPECT_EQ(told.passed_through[0].call, "MPI_File_write_at_all");
    EXPECT_EQ(told.passed_through[0].reason, "file of one rank");
    EXPECT_EQ(told.passed_through[0].bytes, -1) << "not known";
    EXPECT_EQ(told.passed_through[1].reason, "atomic mode");
    EXPECT_EQ(told.passed_through[1].calls, 2);
    EXPECT_EQ(told.passed_through[1].bytes, 16);
}

// Calls and times are the slowest rank's; bytes and requests are summed over all ranks.
TEST_F(CountersOf, OneReductionMakesTheJobsNumbers) {
    counters_.call(written(100));
    counters_.passed(number_of("MPI_File_read_at"), engine::Refusal::none, 8);
    record::FileLine mine = line();
    script().others_table.assign(1 << 16, 0);
    std::vector<std::int64_t>& others = script().others_table;
    others[0] = 1;    // write.calls
    others[6] = 700;  // write.total_ns
    others[16] = 23;  // write.bytes
    const record::FileLine told = line(77);
    EXPECT_EQ(script().calls("Reduce"), 1);
    EXPECT_EQ(told.write.calls, 1);
    EXPECT_EQ(told.write.total_ns, 700);
    EXPECT_EQ(told.write.bytes, 123);
    ASSERT_EQ(told.passed_through.size(), 1U);
    EXPECT_EQ(told.passed_through[0].bytes, 8);
    EXPECT_EQ(script().calls("Op_free"), 1);
    EXPECT_EQ(script().calls("Type_free"), 1);
}

// A call that all ranks make counts once.
TEST_F(CountersOf, ACollectiveCallIsRank0s) {
    counters_.passed(number_of("MPI_File_write_at_all"), engine::Refusal::none, 8);
    counters_.passed(number_of("MPI_File_write_at"), engine::Refusal::none, 8);
    script().rank = 1;
    const record::FileLine told = line(77);
    ASSERT_EQ(told.passed_through.size(), 1U);
    EXPECT_EQ(told.passed_through[0].call, "MPI_File_write_at");
}

TEST_F(CountersOf, ErrorsAreNotedUnderTheirFunctionUpToABound) {
    counters_.now_in(number_of("MPI_File_write_all"));
    for (int i = 0; i < 150; ++i) {
        counters_.error({ErrorCode::no_space, 28, "cannot write"});
    }
    const record::FileLine told = line();
    ASSERT_EQ(told.errors.size(), 100U);
    EXPECT_EQ(told.errors[0].call, "MPI_File_write_all");
    EXPECT_EQ(told.errors[0].error_class, "MPI_ERR_NO_SPACE");
}

TEST_F(CountersOf, ASlowTargetIsToldAsItWasLast) {
    ports::CallRecord record = written(1);
    for (const double rate : {3.0, 2.0}) {
        record.slow = SlowTarget{TargetId{4}, rate, 10.0, 1};
        counters_.call(record);
    }
    const record::FileLine told = line();
    ASSERT_EQ(told.slow_targets.size(), 1U);
    EXPECT_EQ(told.slow_targets[0].target, 4);
    EXPECT_EQ(told.slow_targets[0].rate, 2.0);
}

TEST_F(CountersOf, WithoutARecordNothingIsKept) {
    CallCounters none{false};
    none.passed(0, engine::Refusal::other, 8);
    EXPECT_TRUE(script().log.empty());
}

}  // namespace
}  // namespace forebay::interposer::scripted
