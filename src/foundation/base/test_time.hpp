// For tests: limits of time against hangs, which are longer where a test runs only while a
// processor would be idle otherwise (tools/ci/steps.py).
#pragma once

#include <cstdlib>

namespace forebay {

// `seconds`, times what FOREBAY_TESTS_SLOWER says (1).
inline unsigned test_seconds(unsigned seconds) {
    const char* const slower = std::getenv("FOREBAY_TESTS_SLOWER");
    const long times = slower == nullptr ? 1 : std::strtol(slower, nullptr, 10);
    return times > 1 && times < 1000 ? seconds * static_cast<unsigned>(times) : seconds;
}

}  // namespace forebay
