// Messages to the user on standard error, one sentence a problem.
#pragma once

namespace forebay::capture {

// forebay: problem (why). What to do next.
void say(const char* problem, const char* why, const char* next) noexcept;

}  // namespace forebay::capture
