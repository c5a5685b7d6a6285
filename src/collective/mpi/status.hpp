// How a call's end is reported the MPI's way: status objects, error classes and error handlers; and
// messages to the user.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// Sets `status` to `bytes` bytes moved, which the program may count in any datatype. Accepts
// MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, std::int64_t bytes) noexcept;

[[nodiscard]] int error_class_of(ErrorCode code) noexcept;
[[nodiscard]] const char* error_class_name(ErrorCode code) noexcept;

// Calls the error handler for files that are not open yet (that of MPI_FILE_NULL); returns `code`.
int raise_at_open(int code) noexcept;

// Calls the file's error handler; returns `code`.
int raise(MPI_File file, int code) noexcept;

// Prints one line on standard error by a single system call, so that the lines of several ranks do
// not mix.
void say(const std::string& message) noexcept;

}  // namespace forebay::interposer
