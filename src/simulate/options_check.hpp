// What the tests of the three command lines have in common: how they ask, and what a refusal says.
#pragma once

#include "base/result.hpp"

#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace forebay::sim::check {

// A command line of the simulator's, on a platform of this repository.
template <class Experiment>
struct CommandLine {
    const char* platform;
    Result<Experiment> (*parse)(const std::vector<std::string>& words);

    [[nodiscard]] Result<Experiment> parsed(const std::vector<std::string>& words) const {
        using namespace std::string_literals;
        std::vector all{"platform=" FOREBAY_SOURCE_DIR "/platforms/"s + platform + ".toml"};
        all.insert(all.end(), words.begin(), words.end());
        return parse(all);
    }
    [[nodiscard]] std::string complaint(const std::vector<std::string>& words) const {
        const auto experiment = parsed(words);
        return experiment ? "none" : experiment.error().message;
    }
};

struct Wrong {
    const char* word;
    const char* why;

    // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
    friend void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.word; }
};

inline void expect_refusal(const std::string& said, const Wrong& wrong) {
    EXPECT_NE(said.find("cannot use \""), std::string::npos) << said;
    EXPECT_NE(said.find(wrong.why), std::string::npos) << said;
    EXPECT_NE(said.find("See forebay simulate --help"), std::string::npos) << said;
}

}  // namespace forebay::sim::check
