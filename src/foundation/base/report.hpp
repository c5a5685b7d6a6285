// Messages of our programs on standard error. Whatever names they contain, they reach a terminal or
// a log as one line of printable characters.
#pragma once

#include <string_view>

namespace forebay {

// Prints "PROGRAM: MESSAGE" and a newline, with the message escaped as printable() does.
void report(std::string_view program, std::string_view message);

}  // namespace forebay
