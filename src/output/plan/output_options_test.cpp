#include "output/plan/output_options.hpp"

#include <gtest/gtest.h>

namespace forebay::output {
namespace {

TEST(OutputOptions, AreWordsInAnyOrder) {
    EXPECT_EQ(parse_output_options("")->format, FileFormat::netcdf);
    EXPECT_EQ(parse_output_options("format=netcdf4")->format, FileFormat::netcdf4);
    const Result<OutputOptions> options =
        parse_output_options("  endian=big format=fortran marker=8 window=1MiB writers=3 ");
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->format, FileFormat::fortran);
    EXPECT_EQ(options->record.marker, MarkerSize::eight);
    EXPECT_EQ(options->record.order, std::endian::big);
    EXPECT_EQ(options->window_bytes, 1 << 20);
    EXPECT_EQ(options->writers, 3);
    EXPECT_EQ(options->named, NameTime::at_once);
    EXPECT_EQ(parse_output_options("complete=rename")->named, NameTime::at_close);
    EXPECT_EQ(parse_output_options("compress=4 format=netcdf4")->compress, 4);
    EXPECT_EQ(parse_output_options("compress=0")->compress, 0);
}

TEST(OutputOptions, CompressOnlyWhereTheFormatHasIt) {
    for (const char* text : {"compress=1", "format=fortran compress=9"}) {
        const Result<OutputOptions> options = parse_output_options(text);
        ASSERT_FALSE(options.has_value()) << text;
        EXPECT_EQ(options.error().code, ErrorCode::unsupported);
    }
}

TEST(OutputOptions, RefuseWhatTheyDoNotKnow) {
    for (const char* text : {"format=grib", "marker=5", "endian=middle", "writers=-1", "writers=2x",
                             "window=1", "window=2GiB", "compress=10", "compress=-1", "complete=no",
                             "colour=red", "format", "="}) {
        const Result<OutputOptions> options = parse_output_options(text);
        ASSERT_FALSE(options.has_value()) << text;
        EXPECT_EQ(options.error().code, ErrorCode::argument);
    }
}

}  // namespace
}  // namespace forebay::output
