// The words that a benchmark was started with: those it reads, and those it shows.
#pragma once

#include <string>
#include <vector>

namespace forebay::bench {

// `forebay bench` starts a program with --result FILE, its way to what was measured: as --json
// FILE, but not shown. Shown is what a user would type: the program by its file's name, without
// --result.
struct CommandWords {
    CommandWords(int argc, char** argv);

    std::vector<std::string> read;
    std::vector<std::string> shown;
};

}  // namespace forebay::bench
