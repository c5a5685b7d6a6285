// The MPI's ways of saying how a call ended: status objects, error classes, error handlers.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <mpi.h>

namespace forebay::interposer {

// `bytes` were moved, counted in any datatype the program asks for. Takes MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, std::int64_t bytes) noexcept;

[[nodiscard]] int error_class_of(ErrorCode code) noexcept;
[[nodiscard]] const char* error_class_name(ErrorCode code) noexcept;

// Calls the error handler of files that are not open yet; returns `code`.
int raise_at_open(int code) noexcept;

// Calls the file's error handler; returns `code`.
int raise(MPI_File file, int code) noexcept;

// One line on standard error, as whole lines also when ranks share the stream.
void say(const std::string& message) noexcept;

}  // namespace forebay::interposer
