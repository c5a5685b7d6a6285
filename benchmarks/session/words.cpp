// Separates the words that are parsed from those that are shown.
#include "benchmarks/session/words.hpp"

namespace forebay::bench {

CommandWords::CommandWords(int argc, char** argv) : read(argv, argv + argc), shown(read) {
    if (shown.empty()) {
        return;
    }
    shown.front().erase(0, shown.front().rfind('/') + 1);  // npos + 1 is 0
    if (read.size() > 2 && read[1] == "--result") {
        read[1] = "--json";
        shown.erase(shown.begin() + 1, shown.begin() + 3);
    }
}

}  // namespace forebay::bench
