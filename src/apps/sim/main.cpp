// forebay_sim: runs one simulated experiment and prints its result as one line of JSON. Options are
// key=value; `forebay simulate` passes them.
#include "foundation/base/printable.hpp"
#include "worlds/simulate/independent_options.hpp"
#include "worlds/simulate/io_ranks_options.hpp"
#include "worlds/simulate/options.hpp"
#include "worlds/simulate/pool_options.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

// Parses the options, runs the simulation and prints its result. Returns the exit status.
template <class Parse>
int simulate(const Words& words, const std::string& help, Parse parse) {
    if (words == Words{"--help"}) {
        std::fputs(help.c_str(), stdout);
        return 0;
    }
    const auto experiment = parse(words);
    if (!experiment) {
        std::fprintf(stderr, "forebay_sim: %s\n",
                     forebay::printable(experiment.error().message).c_str());
        return 2;
    }
    const auto outcome = forebay::sim::run(*experiment);
    if (!outcome) {
        std::fprintf(stderr, "forebay_sim: %s\n",
                     forebay::printable(outcome.error().message).c_str());
        return 1;
    }
    std::printf("%s\n", forebay::sim::as_json(*experiment, *outcome).c_str());
    return forebay::sim::wrong(*outcome) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Words words(argv + 1, argv + argc);
        // A program that computes and writes in turns, with and without the pool.
        if (!words.empty() && words.front() == "pool") {
            return simulate({words.begin() + 1, words.end()}, forebay::sim::pool_help(),
                            forebay::sim::parse_pool_options);
        }
        // A program that computes and writes in turns, with and without I/O ranks.
        if (!words.empty() && words.front() == "io-ranks") {
            return simulate({words.begin() + 1, words.end()}, forebay::sim::io_ranks_help(),
                            forebay::sim::parse_io_ranks_options);
        }
        // Processes that read or write independently of each other.
        if (!words.empty() && words.front() == "independent") {
            return simulate({words.begin() + 1, words.end()}, forebay::sim::independent_help(),
                            forebay::sim::parse_independent_options);
        }
        return simulate(words, forebay::sim::help(), forebay::sim::parse_options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "forebay_sim: %s\n", error.what());
        return 1;
    }
}
