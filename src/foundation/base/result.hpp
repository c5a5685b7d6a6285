// Operating errors as values, with the message that a user reads: problem (why). What to do next.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace forebay {

// Classes of errors, as MPI-IO distinguishes them (MPI_ERR_NO_SPACE, MPI_ERR_QUOTA …).
enum class ErrorCode {
    input_output,  // anything without a class of its own
    no_space,      // ENOSPC
    quota,         // EDQUOT
    read_only,     // EROFS
    no_such_file,  // ENOENT
    access,        // EACCES, EPERM
    argument,      // the caller's values make no sense
    unsupported,   // valid, but not something that Forebay takes over
};

struct [[nodiscard]] Error {
    ErrorCode code = ErrorCode::input_output;
    int system = 0;       // errno if a system call failed, else 0
    std::string message;  // problem (why). What to do next.
};

template <class T>
using Result = tl::expected<T, Error>;

// The class of an errno. Source: the MPI standard's error classes, chapter I/O.
ErrorCode error_code_of(int system) noexcept;

// Advice to the user on what to do after such an error.
[[nodiscard]] std::string_view advice_on(ErrorCode code) noexcept;

// Builds the message from `doing` ("write /scratch/x.nc") and an errno: "cannot write /scratch/x.nc
// (No space left on device). Free space …".
Error system_error(int system, std::string_view doing);

[[nodiscard]] inline tl::unexpected<Error> failure(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

}  // namespace forebay
