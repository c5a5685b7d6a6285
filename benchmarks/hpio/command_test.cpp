// HPIO's command lines, ranges and patterns as text, and the estimate.
#include "benchmarks/hpio/command.hpp"

#include "benchmarks/command_line/options.hpp"
#include "benchmarks/hpio/grammar.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace forebay::hpio {
namespace {

using Numbers = std::vector<std::int64_t>;

Result<HpioCommand> parse(const std::string& line) {
    return parse_command(command_line::split(line, ' '));
}

TEST(Grammar, Values) {
    EXPECT_EQ(parse_values("8").value(), Numbers{8});
    EXPECT_EQ(parse_values("4|1k").value(), (Numbers{4, 1024}));
    EXPECT_EQ(parse_values("4..64").value(), (Numbers{4, 8, 16, 32, 64}));
    EXPECT_EQ(parse_values("4..100*4|3").value(), (Numbers{4, 16, 64, 3}));
    EXPECT_EQ(parse_values("1..9223372036854775807*1073741824").value().size(), 3U);
    for (const char* bad : {"", "x", "4..", "..4", "8..4", "0..4", "4..8*1"}) {
        EXPECT_FALSE(parse_values(bad)) << bad;
    }
}

TEST(Grammar, Patterns) {
    const auto all =
        parse_patterns("hpio:count=4..16*2,size=1k,space=0|8,mem=c|nc,file=nc").value();
    EXPECT_EQ(all.size(), 12U);
    EXPECT_EQ(std::get<RegionPattern>(all.front()),
              (RegionPattern{.count = 4,
                             .size_bytes = 1024,
                             .spacing_bytes = 0,
                             .memory = PatternShape::contiguous,
                             .file = PatternShape::noncontiguous}));
    const auto part = parse_patterns("subarray:shape=4x9,start=1x0,part=1x9,halo=0x2,element=4");
    const ArrayPattern array = std::get<ArrayPattern>(part.value().front());
    EXPECT_EQ(array.element_bytes, 4);
    EXPECT_EQ(array.dimensions[0], (ArrayDimension{.size = 4, .start = 1, .count = 1}));
    EXPECT_EQ(array.dimensions[1], (ArrayDimension{.size = 9, .start = 0, .count = 9, .halo = 2}));
    const auto cyclic = parse_patterns("cyclic:shape=8x8,block=2x4,grid=2x1").value();
    EXPECT_EQ(std::get<ArrayPattern>(cyclic.front()).dimensions[0],
              (ArrayDimension{.size = 8, .count = 8, .ranks = 2, .block = 2}));
    for (const char* bad : {"", "hpio:weight=4", "hpio:count", "hpio:count=4,count=5", "hpio:mem=x",
                            "block", "block:shape=4xx", "block:shape=4x4,grid=2",
                            "block:shape=4,halo=1", "cyclic:shape=4,halo=1",
                            "hpio:count=1..1000000000,size=1..1000000000,space=1..1000000000"}) {
        EXPECT_FALSE(parse_patterns(bad)) << bad;
    }
}

TEST(HpioCommand, TheRealRunsLine) {
    // The command line of 71-hpio-run.txt.
    const auto request =
        parse("-n 1111 -m 10 -B -c 1024 -s 1024 -p 128 -O 11 -r 3 -w 0 -v 1 -d .").value();
    ASSERT_EQ(request.points.size(), 8U);
    EXPECT_EQ(request.repetitions, 3);
    EXPECT_EQ(request.verify, VerifiedData::data);
    const std::vector<std::string> order{"c-c", "nc-c", "c-nc", "nc-nc"};
    for (std::size_t at = 0; at < 8; ++at) {
        const Point& point = request.points[at];
        EXPECT_EQ(point.direction, at < 4 ? HpioDirection::write : HpioDirection::read);
        EXPECT_EQ(short_name(point.pattern), order[at % 4]);
        EXPECT_EQ(point.test, "bandwidth_single");
        EXPECT_EQ(std::get<RegionPattern>(point.pattern).size_bytes, 1024);
    }
}

TEST(HpioCommand, SweepsAndResume) {
    const auto all = parse("-b 110 -n 0001 -m 11 -O 10").value();
    EXPECT_EQ(all.points.size(), 24U);
    const auto rest = parse("-b 110 -n 0001 -m 11 -O 10 -R o10t010n0001m01v512").value();
    ASSERT_EQ(rest.points.size(), 3U);
    EXPECT_EQ(std::get<RegionPattern>(rest.points.front().pattern).size_bytes, 512);
    EXPECT_FALSE(parse("-b 110 -R o10t010n0001m01v513"));
    EXPECT_FALSE(parse("-b 110 -R nonsense"));
    EXPECT_FALSE(parse("-b 110 -R o10t010n0001m01"));
}

TEST(HpioCommand, MethodsByNameAndPatterns) {
    const auto request =
        parse("--methods posix,collective --pattern block:shape=8x8 -O 10").value();
    ASSERT_EQ(request.points.size(), 2U);
    EXPECT_EQ(request.points[0].method, AccessMethod::collective);
    EXPECT_EQ(request.points[1].method, AccessMethod::posix);
    EXPECT_EQ(request.points[1].test, "pattern");
}

TEST(HpioCommand, NonsenseIsNamed) {
    for (const char* bad : {"-q", "-c x", "-n 2", "-n 0000", "-m 00", "-r 0", "-v 3", "-H x",
                            "word", "--methods mmap", "--budget-share 200%", "-c", "-d="}) {
        const auto request = parse(bad);
        ASSERT_FALSE(request) << bad;
        EXPECT_FALSE(request.error().message.empty());
    }
    EXPECT_NE(parse("-c x").error().message.find("-c"), std::string::npos);
}

TEST(HpioCommand, EstimateCountsFillingWritingAndReading) {
    const auto request = parse("-n 0001 -c 2 -s 8 -p 8 -r 3").value();
    const auto total = estimate(request, 4).value();
    // Write: 3 files of 128 B are filled and 3 × 64 B written; read: 3 files of 128 B are filled.
    EXPECT_EQ(total.bytes_written, 3 * 128 + 3 * 64 + 3 * 128);
    EXPECT_EQ(total.bytes_read, 3 * 128 + 3 * 64);
    EXPECT_EQ(total.files, 6);
    EXPECT_EQ(total.bytes_kept_max, 128);
    EXPECT_FALSE(estimate(parse("--pattern block:shape=8,grid=3").value(), 4));
}

TEST(HpioCommand, EstimateKnowsWhatIsMadeAndWhatStays) {
    const auto of = [](const std::string& line) {
        return estimate(parse("-n 0001 -c 2 -s 8 -p 8 -r 3 " + line).value(), 4).value();
    };
    EXPECT_EQ(of("-k").bytes_kept_max, 2 * 3 * 128);
    EXPECT_EQ(of("-k -S 1").bytes_kept_max, 2 * 128);
    // One file, filled for each repetition.
    EXPECT_EQ(of("-O 10 -S 1").bytes_written, 3 * 128 + 3 * 64);
    // Files of an earlier run are neither created nor filled.
    const auto reads = of("-O 01 -g 2 -k");
    EXPECT_EQ(reads.bytes_written, 0);
    EXPECT_EQ(reads.files, 0);
    EXPECT_EQ(reads.bytes_kept_max, 0);
    EXPECT_EQ(reads.bytes_read, 3 * 64);
}

TEST(HpioCommand, HelpNamesTheDefaultLimits) {
    EXPECT_NE(help_text().find("10% [50%]\n"), std::string::npos);
    EXPECT_NE(help_text().find("call takes longer [600s]\n"), std::string::npos);
}

// Regression: sixteen times 2^58 B wrapped around to 512 MiB.
TEST(HpioCommand, EstimateOfNonsenseDoesNotWrap) {
    const auto request = parse("-c 1048576 -s 256g -r 16").value();
    const auto total = estimate(request, 2).value();
    EXPECT_EQ(total.bytes_written, std::numeric_limits<std::int64_t>::max());
    EXPECT_FALSE(measure::allowed(total, request.limits.budget, std::int64_t{1} << 40));
    EXPECT_FALSE(estimate(parse("-c 1 -s 8000000000g").value(), 2));
}

}  // namespace
}  // namespace forebay::hpio
