// The monitor's reports on slots, tested without waiting.
#include "benchmarks/measure/monitor.hpp"

#include "benchmarks/measure/csv.hpp"

#include <array>
#include <csignal>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace forebay::measure {
namespace {

TEST(Progress, names_the_slowest_of_a_node) {
    std::array<ProgressSlot, 3> slots{};
    slots[0].did(4 << 20);
    slots[1].did(1 << 20);
    slots[2].did(2 << 20);
    const NodeProgress node = progress_of(slots);
    EXPECT_EQ(node.slowest, 1U);
    EXPECT_EQ(live_line({"write", 14 << 20, 2.0, 8}, node),
              "write 50 %  3.5 MiB/s  slowest rank 9 at 25 % of the fastest");
    EXPECT_EQ(live_line({"read", 0, 0.0, 0}, {}), "read");
    NodeProgress calls;
    calls.bytes = 5000;
    EXPECT_EQ(live_line({"File creation", 0, 2.0, 0, CountedUnit::operations}, calls),
              "File creation  2500 ops/s");
}

std::future<RunStop> watched(std::array<ProgressSlot, 2>& slots, Monitor::Options options,
                             std::unique_ptr<Monitor>& monitor) {
    auto said = std::make_shared<std::promise<RunStop>>();  // owners: the test and the monitor
    std::future<RunStop> stop = said->get_future();
    options.slots = slots;
    options.stop = [said](const RunStop& why) { said->set_value(why); };
    monitor = std::make_unique<Monitor>(std::move(options));
    return stop;
}

TEST(Monitor, ends_a_call_that_does_not_return) {
    std::array<ProgressSlot, 2> slots{};
    slots[0].working = 1;
    std::unique_ptr<Monitor> monitor;
    Monitor::Options options;
    options.stall_seconds = 0.0;
    auto stop = watched(slots, options, monitor);
    const RunStop why = stop.get();
    EXPECT_EQ(why.cause, StopCause::stalled);
    EXPECT_THAT(why.message, testing::HasSubstr("rank 0"));
}

TEST(Monitor, ends_a_run_whose_time_is_over) {
    std::array<ProgressSlot, 2> slots{};
    std::unique_ptr<Monitor> monitor;
    Monitor::Options options;
    options.limit_seconds = 0.0;
    EXPECT_EQ(watched(slots, options, monitor).get().cause, StopCause::time_over);
}

TEST(Monitor, notices_that_a_rank_of_its_node_has_died) {
    std::array<ProgressSlot, 2> slots{};
    slots[1].process = 0x7ffffffe;  // above the kernel's largest process ID
    std::unique_ptr<Monitor> monitor;
    EXPECT_EQ(watched(slots, {}, monitor).get().cause, StopCause::peer_died);
}

TEST(Monitor, ends_at_once_when_all_is_well) {
    std::array<ProgressSlot, 2> slots{};
    std::unique_ptr<Monitor> monitor;
    auto stop = watched(slots, {}, monitor);
    monitor->begin("write", 10);
    monitor->end();
    monitor.reset();
    EXPECT_EQ(slots[0].process.load(), 0);
}

std::future<bool> whether_blocked(std::thread& thread) {
    std::promise<bool> said;
    std::future<bool> is = said.get_future();
    thread = std::thread([said = std::move(said)]() mutable {
        sigset_t now;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
        said.set_value(sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGINT) == 1);
    });
    return is;
}

TEST(Monitor, threads_of_the_mpi_leave_it_the_signals) {
    std::thread helper;
    {
        const StopSignalsWait inherited;
        EXPECT_TRUE(whether_blocked(helper).get());
        helper.join();
    }
    EXPECT_FALSE(whether_blocked(helper).get());
    helper.join();
}

TEST(Monitor, gives_the_signals_back) {
    std::array<ProgressSlot, 2> slots{};
    std::unique_ptr<Monitor> monitor;
    auto stop = watched(slots, {}, monitor);
    std::thread other;
    EXPECT_TRUE(whether_blocked(other).get());
    other.join();
    monitor.reset();
    EXPECT_FALSE(whether_blocked(other).get());
    other.join();
}

TEST(Monitor, says_by_the_status_what_ended_a_run) {
    EXPECT_EQ(exit_status({StopCause::stalled, "", 0}), 4);
    EXPECT_EQ(exit_status({StopCause::time_over, "", 0}), 4);
    EXPECT_EQ(exit_status({StopCause::peer_died, "", 0}), 2);
    EXPECT_EQ(exit_status({StopCause::signal, "", SIGTERM}), 143);
    EXPECT_EQ(exit_status({StopCause::signal, "", SIGINT}), 130);
}

TEST(Csv, quotes_what_needs_it) {
    EXPECT_EQ(csv_field("plain"), "plain");
    EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

}  // namespace
}  // namespace forebay::measure
