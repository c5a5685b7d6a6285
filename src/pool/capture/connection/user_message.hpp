// Error messages to the user on standard error (no messages of the daemon's socket: those are in
// pool/protocol/messages.hpp).
#pragma once

namespace forebay::capture {

// Prints "forebay: problem (why). What to do next." on one line. Control characters are escaped;
// errno is kept. Safe in signal handlers.
void report_problem(const char* problem, const char* why, const char* next) noexcept;

}  // namespace forebay::capture
