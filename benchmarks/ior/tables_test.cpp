// Compares rows with those of real outputs, and checks columns that IOR computes wrongly.
#include "benchmarks/ior/tables.hpp"

#include "benchmarks/ior/distribution_tables.hpp"
#include "benchmarks/ior/tables_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace forebay::ior {
namespace {

using testing::HasSubstr;

TEST(Tables, heads_are_those_of_the_reference) {
    const std::string text = reference("01-ssf.txt");
    EXPECT_THAT(text, HasSubstr(results_head(a_test())));
    ior::RunResult run;
    run.tests.push_back(a_test());
    const std::string summary = summary_text(run);
    EXPECT_THAT(text, HasSubstr(summary.substr(0, summary.find("Finished"))));
    for (const NamedValue& named : option_block(run.tests.front())) {
        EXPECT_THAT(text, HasSubstr("\n" + named.name));
    }
    EXPECT_THAT(reference("08-verbose1.txt"), HasSubstr(remove_row(0.011501, 0)));
}

TEST(Tables, verbose_lines_are_those_of_the_reference) {
    ior::TestResult test = a_test();
    test.options.verbose = 3;
    test.seed = 1795233671;
    const std::string text = reference("10-verbose3.txt");
    EXPECT_THAT(text, HasSubstr(results_head(test)));
    PhaseResult phase;
    phase.access = "write";
    phase.ranks.resize(4);
    RankTimes& times = phase.ranks[3];
    times.began = 1795233671.223744;
    times.open_end = 0.000015;
    times.transfers_begin = 0.000015;
    times.transfers_end = 0.000897;
    times.data = 0.0001;  // the phase's clock was stopped, the time of day was not
    times.close_begin = 0.000897;
    times.close_end = 0.000902;
    const std::string moments = moments_text(test, phase);
    EXPECT_THAT(text, HasSubstr(moments.substr(moments.find("Test 0: Iter=0, Task=3"))));
}

TEST(Tables, a_row_is_that_of_the_reference) {
    const ior::TestResult test = a_test();
    PhaseResult phase;
    phase.access = "write";
    phase.columns = {1666.75, 6681, 0.000418, 0.009298, 0.038316, 0.015965, 0.038398};
    EXPECT_THAT(reference("01-ssf.txt"), HasSubstr("\n" + phase_row(phase, test.options)));
    EXPECT_EQ(column(-1), "   -      ");
}

TEST(Tables, a_summary_row_is_that_of_the_reference) {
    ior::RunResult run;
    run.tests.push_back(a_test());
    PhaseResult phase = a_phase(run.tests[0].options);
    phase.stonewalled = false;
    phase.columns.bandwidth_mib = 1666.7525;
    phase.columns.total = 0.0384;
    run.tests[0].phases.push_back(phase);
    std::string text = reference("01-ssf.txt");
    const std::size_t at = text.find("\nwrite  ", text.find("Summary"));
    EXPECT_THAT(summary_text(run), HasSubstr(text.substr(at, text.find('\n', at + 1) - at + 1)));
}

// IOR's open(s) and close(s) are max(stop) - min(start), and its Latency(s) is a minimum over
// ranks.
TEST(Results, open_close_and_latency_are_no_skews_of_barriers) {
    IorOptions o = a_test().options;
    const ResultColumns c = a_phase(o).columns;
    EXPECT_NEAR(c.open, 0.0001, 1e-9);
    EXPECT_NEAR(c.close, 0.0002, 1e-9);
    EXPECT_NEAR(c.latency, 0.0025, 1e-6);
    o.own.ior_compat = true;
    const ResultColumns compat = a_phase(o).columns;
    EXPECT_NEAR(compat.open, 0.0031, 1e-9);
    EXPECT_NEAR(compat.latency, 0.1 / 64, 1e-9);
    EXPECT_DOUBLE_EQ(compat.bandwidth_mib, c.bandwidth_mib);
}

// Regression: eight ranks on two cores read "at 40 GB/s", since each was done before the next one
// had left the barrier.
TEST(Results, ranks_of_a_node_are_timed_from_the_first_ones_begin) {
    PhaseResult phase;
    phase.bytes = 4 << 20;
    phase.ranks.resize(4);
    for (std::size_t i = 0; i < phase.ranks.size(); ++i) {
        RankTimes& rank = phase.ranks[i];
        rank.node = i < 2 ? 0 : 1;
        rank.began_ns =
            (i < 2 ? 5'000'000'000 : 0) + static_cast<std::int64_t>(i % 2) * 250'000'000;
        rank.transfers_end = rank.close_begin = rank.close_end = 0.25;
        rank.transfers = 1;
    }
    summarise(phase, a_test().options, {"a", "b"});
    EXPECT_NEAR(phase.columns.total, 0.5, 1e-9);
    EXPECT_NEAR(phase.columns.bandwidth_mib, 8.0, 1e-6);
    EXPECT_NEAR(phase.columns.close, 0.0, 1e-9);
    EXPECT_NEAR(phase.first_done, 0.25, 1e-9);
    EXPECT_NEAR(phase.median_rank_seconds, 0.25, 1e-9);
}

TEST(Results, stonewall_mib_is_of_all_tasks) {
    IorOptions o = a_test().options;
    EXPECT_NEAR(a_phase(o).stonewall_mib, 4 * 32 * 0.25 / 0.5, 1e-9);
    o.own.ior_compat = true;
    EXPECT_NEAR(a_phase(o).stonewall_mib, 32 * 0.25 / 0.5, 1e-9);
}

TEST(Results, name_the_slowest_and_when_the_first_was_done) {
    const PhaseResult phase = a_phase(a_test().options);
    EXPECT_EQ(phase.slowest_rank, 3);
    EXPECT_EQ(phase.fastest_rank, 0);
    EXPECT_NEAR(phase.first_done, 0.1001, 1e-9);
    EXPECT_NEAR(phase.last_done, 0.4031, 1e-9);
    EXPECT_GT(phase.first_done_mib, phase.last_done_mib);
    EXPECT_EQ(phase.nodes.front().host, "vm");
}

TEST(Tables, more_follows_after_the_summary) {
    ior::RunResult run;
    run.tests.push_back(a_test());
    run.tests[0].phases.assign(2, a_phase(run.tests[0].options));
    run.tests[0].warnings = {"something"};
    const std::string text = distribution_text(run);
    for (const char* part : {"p99.9", "first after", "rank 3 on vm", "something"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

// Regression: awk '/^write/{print $2}' picked numbers of these tables as bandwidths.
TEST(Tables, only_rows_of_ior_begin_with_write_or_read) {
    for (const bool compat : {false, true}) {
        ior::RunResult run;
        run.tests.push_back(a_test());
        run.tests[0].options.own.ior_compat = compat;
        for (const char* access : {"write", "read", "write", "read"}) {
            run.tests[0].phases.push_back(a_phase(run.tests[0].options));
            run.tests[0].phases.back().access = access;
        }
        std::istringstream lines(distribution_text(run));
        int rows = 0;
        for (std::string line; std::getline(lines, line);) {
            EXPECT_FALSE(line.starts_with("write") || line.starts_with("read")) << line;
            rows += line.find(" write ") != std::string::npos ? 1 : 0;
        }
        EXPECT_EQ(rows, 3 * 2 + 1);
    }
}

// Regression: the table said "coverage 0.0 %".
TEST(Tables, one_repetition_has_no_median) {
    ior::RunResult run;
    run.tests.push_back(a_test());
    run.tests[0].phases.push_back(a_phase(run.tests[0].options));
    EXPECT_THAT(distribution_text(run), testing::Not(HasSubstr("coverage")));
}

TEST(Tables, verbose_says_who_takes_part) {
    ior::TestResult test = a_test();
    EXPECT_THAT(test_text(test), testing::Not(HasSubstr("Participating")));
    test.options.verbose = 1;
    EXPECT_THAT(test_text(test), HasSubstr("Participating tasks : 4\n"));
    test.options.reorder_constant = true;
    EXPECT_THAT(test_text(test), HasSubstr("\nUsing reorderTasks '-C' "));
}

// In 33-Z.txt both of two tasks read one file.
TEST(Tables, hits_of_files_are_those_of_the_reference) {
    EXPECT_THAT(reference("33-Z.txt"), HasSubstr("\n" + hits_line({1, 1})));
    EXPECT_EQ(hits_line({0, 1, 2, 3}), "#File Hits Dist: 0 4\n");
    EXPECT_EQ(hits_line({0, 0, 1, 1}), "#File Hits Dist: 2 0 2\n");
}

}  // namespace
}  // namespace forebay::ior
