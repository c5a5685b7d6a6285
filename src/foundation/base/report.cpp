// One call of the C library for each line, so that lines of several threads are not mixed.
#include "foundation/base/report.hpp"

#include "foundation/base/printable.hpp"

#include <cstdio>
#include <string>

namespace forebay {

void report(std::string_view program, std::string_view message) {
    std::string line{program};
    line += ": ";
    line += printable(message);
    line += '\n';
    std::fputs(line.c_str(), stderr);
}

}  // namespace forebay
