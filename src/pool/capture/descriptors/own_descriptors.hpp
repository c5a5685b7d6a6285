// Duplicates our own descriptors (socket, eventfd, log) to high numbers, so that a program does not
// come across them and its limit of open files is not reduced.
#pragma once

namespace forebay::capture {

// A duplicate above the program's limit (RLIMIT_NOFILE), which is raised for a moment; that needs a
// privilege if the soft limit equals the hard one. Returns -1 if it fails.
int duplicate_above_limit(int fd) noexcept;
// As above, or else at a number that programs rarely use. Returns -1 if no descriptor is left
// (EMFILE).
int duplicate_to_high_number(int fd) noexcept;

}  // namespace forebay::capture
