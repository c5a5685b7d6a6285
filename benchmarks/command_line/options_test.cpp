// All ways of attaching values to options, and former confusions of values with flags.
#include "benchmarks/command_line/options.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::command_line {
namespace {

constexpr std::array table{
    CommandOption{'t', "transfer", OptionArgument::value, "a size", "8"},
    CommandOption{'b', "", OptionArgument::value, "another", ""},
    CommandOption{'i', "", OptionArgument::value, "repetitions", ""},
    CommandOption{'k', "keep", OptionArgument::nothing, "a flag", ""},
    CommandOption{'m', "", OptionArgument::nothing, "another", ""},
    CommandOption{'G', "", OptionArgument::value, "may be negative", ""},
    CommandOption{'R', "", OptionArgument::number_if_there, "", ""},
};

std::string read(const std::vector<std::string>& words) {
    const auto parsed = parse(table, words);
    if (!parsed) {
        return parsed.error().message;
    }
    std::string text;
    for (const GivenOption& one : *parsed) {
        text += one.option == 0 && table[one.option].letter == 't' ? "t" : "";
        text += one.option == 0 ? "" : std::string(1, table[one.option].letter);
        text += one.value.empty() ? " " : "=" + one.value + " ";
    }
    return text;
}

TEST(Options, AttachedValuesAreNotFlags) {
    EXPECT_EQ(read({"-t4k", "-b1m", "-i2"}), "t=4k b=1m i=2 ");
}

TEST(Options, EveryFormOfAValue) {
    EXPECT_EQ(read({"-t", "4k"}), "t=4k ");
    EXPECT_EQ(read({"-t=4k"}), "t=4k ");
    EXPECT_EQ(read({"--transfer=4k"}), "t=4k ");
    EXPECT_EQ(read({"--transfer", "4k"}), "t=4k ");
    EXPECT_EQ(read({"-G", "-123"}), "G=-123 ");
    EXPECT_EQ(read({"-G=-123"}), "G=-123 ");
    EXPECT_EQ(read({"-km"}), "k m ");
    EXPECT_EQ(read({"-kmt4k"}), "k m t=4k ");
    EXPECT_EQ(read({"-k=0"}), "k=0 ");
    EXPECT_EQ(read({"-R", "5", "-R5", "-R=5"}), "R=5 R=5 R=5 ");
    EXPECT_EQ(read({"-R", "-Rk", "-kR"}), "R R k k R ");
}

// Regression: "forebay bench meta -- -n 4 -u" was refused with "-u is no option".
TEST(Options, AFlagBehindTwoDashesIsTaken) {
    EXPECT_EQ(read({"-k", "--", "-t", "4k", "-m"}), "k t=4k m ");
    EXPECT_EQ(read({"--", "-k"}), "k ");
}

TEST(Options, NamesAreTakenInAnyCase) { EXPECT_EQ(read({"--Transfer=4k", "--KEEP"}), "t=4k k "); }

// Regression: --posix.odirect=TRUE was refused.
TEST(Options, AFlagMayBeTrueOrFalseInWords) {
    for (const char* yes : {"", "1", "TRUE", "true", "yes", "on"}) {
        EXPECT_TRUE(flag("-k", yes).value()) << yes;
    }
    for (const char* no : {"0", "FALSE", "no", "off"}) {
        EXPECT_FALSE(flag("-k", no).value()) << no;
    }
}

TEST(Options, OfBackEndsThatAreNotHereAreLeftOut) {
    constexpr std::array<std::string_view, 1> modules{"dfs"};
    std::vector<std::string> advice;
    const std::vector<std::string> words{"--DFS.pool=x", "-k", "--dfs.cont", "y", "--dfsx.a"};
    EXPECT_EQ(without_modules(words, modules, "not built", advice),
              (std::vector<std::string>{"-k", "--dfsx.a"}));
    EXPECT_EQ(advice, (std::vector<std::string>{"--DFS.pool is ignored (not built).",
                                                "--dfs.cont is ignored (not built)."}));
}

TEST(Options, WhatIsWrongIsSaid) {
    EXPECT_NE(read({"dir"}).find("\"dir\" is no option"), std::string::npos);
    EXPECT_NE(read({"-kq"}).find("unknown option -q in -kq"), std::string::npos);
    EXPECT_NE(read({"-q"}).find("unknown option -q"), std::string::npos);
    EXPECT_NE(read({"--keeper"}).find("unknown option --keeper"), std::string::npos);
    EXPECT_NE(read({"-t"}).find("lacks its value"), std::string::npos);
    EXPECT_FALSE(whole_number("-n", "4x"));
    EXPECT_FALSE(whole_number("-n", ""));
    EXPECT_EQ(whole_number("-n", "-4").value(), -4);
    EXPECT_FALSE(flag("-k", "2"));
    EXPECT_FALSE(flag("-k", "0").value());
}

TEST(Options, HelpNamesAll) {
    const std::string text = help(table);
    EXPECT_NE(text.find("--transfer VALUE"), std::string::npos);
    EXPECT_NE(text.find("[8]"), std::string::npos);
}

}  // namespace
}  // namespace forebay::command_line
