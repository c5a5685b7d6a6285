// Helpers for the tests of the simulator's three command lines.
#pragma once

#include "foundation/base/result.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::sim {

// An invalid word, and a part of the reason in its error.
struct Wrong {
    const char* word;
    const char* why;
};

// A command line of the simulator with a platform of this repository.
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
    template <class... Row>
    void expect_refusals(const Row&... rows) const {
        for (const Wrong& wrong : {rows...}) {
            const std::string said = complaint({wrong.word});
            const std::string_view word = wrong.word;
            EXPECT_NE(said.find("cannot use \""), std::string::npos) << said;
            EXPECT_NE(said.find(word.substr(0, word.find('='))), std::string::npos) << said;
            EXPECT_NE(said.find(wrong.why), std::string::npos) << wrong.word << ": " << said;
            EXPECT_NE(said.find("See forebay simulate --help"), std::string::npos) << said;
        }
    }
};

}  // namespace forebay::sim
