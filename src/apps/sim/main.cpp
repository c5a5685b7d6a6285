// forebay_sim: one experiment, one JSON line. Options are key=value; `forebay simulate` gives them.
#include "simulate/options.hpp"
#include "simulate/pool_options.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

// With "pool" as the first word: a program that computes and puts out, with and without the pool.
int simulate_pool(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--help"}) {
        std::fputs(forebay::sim::pool_help().c_str(), stdout);
        return 0;
    }
    const auto experiment = forebay::sim::parse_pool_options(words);
    if (!experiment) {
        std::fprintf(stderr, "forebay_sim: %s\n", experiment.error().message.c_str());
        return 2;
    }
    const auto outcome = forebay::sim::run(*experiment);
    if (!outcome) {
        std::fprintf(stderr, "forebay_sim: %s\n", outcome.error().message.c_str());
        return 1;
    }
    std::printf("%s\n", forebay::sim::as_json(*experiment, *outcome).c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (!words.empty() && words.front() == "pool") {
            return simulate_pool({words.begin() + 1, words.end()});
        }
        if (words == std::vector<std::string>{"--help"}) {
            std::fputs(forebay::sim::help().c_str(), stdout);
            return 0;
        }
        const auto experiment = forebay::sim::parse_options(words);
        if (!experiment) {
            std::fprintf(stderr, "forebay_sim: %s\n", experiment.error().message.c_str());
            return 2;
        }
        const auto outcome = forebay::sim::run(*experiment);
        if (!outcome) {
            std::fprintf(stderr, "forebay_sim: %s\n", outcome.error().message.c_str());
            return 1;
        }
        std::printf("%s\n", forebay::sim::as_json(*experiment, *outcome).c_str());
        return outcome->wrong == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "forebay_sim: %s\n", error.what());
        return 1;
    }
}
