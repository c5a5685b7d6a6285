// The command line of a benchmark, as parsed and as shown.
#pragma once

#include <string>
#include <vector>

namespace forebay::bench {

// `forebay bench` adds --result FILE, by which it gets the results. This is parsed as --json FILE,
// but not shown: the shown words are those that a user would type, with the program's file name.
struct CommandWords {
    CommandWords(int argc, char** argv);

    std::vector<std::string> read;
    std::vector<std::string> shown;
};

}  // namespace forebay::bench
