// Every way in which users attach values, and what used to be mistaken for flags.
#include "bench/command_line/options.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::command_line {
namespace {

constexpr std::array table{
    Option{'t', "transfer", Takes::value, "a size", "8"},
    Option{'b', "", Takes::value, "another", ""},
    Option{'i', "", Takes::value, "repetitions", ""},
    Option{'k', "keep", Takes::nothing, "a flag", ""},
    Option{'m', "", Takes::nothing, "another", ""},
    Option{'G', "", Takes::value, "may be negative", ""},
    Option{'R', "", Takes::number_if_there, "", ""},
};

std::string read(const std::vector<std::string>& words) {
    const auto parsed = parse(table, words);
    if (!parsed) {
        return parsed.error().message;
    }
    std::string text;
    for (const Given& one : parsed->given) {
        text += one.option == 0 && table[one.option].letter == 't' ? "t" : "";
        text += one.option == 0 ? "" : std::string(1, table[one.option].letter);
        text += one.value.empty() ? " " : "=" + one.value + " ";
    }
    for (const std::string& rest : parsed->rest) {
        text += "+" + rest + " ";
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
    EXPECT_EQ(read({"-k", "dir", "--", "-t"}), "k +dir +-t ");
    EXPECT_EQ(read({"-R", "5", "-R5", "-R=5"}), "R=5 R=5 R=5 ");
    EXPECT_EQ(read({"-R", "-Rk", "-kR"}), "R R k k R ");
    EXPECT_EQ(read({"-R", "dir"}), "R +dir ");
}

TEST(Options, WhatIsWrongIsSaid) {
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
