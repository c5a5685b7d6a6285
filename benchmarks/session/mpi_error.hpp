// Converts the MPI's error code of a failed file operation to an Error.
#pragma once

#include "foundation/base/result.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <mpi.h>
#include <string>
#include <string_view>

namespace forebay::bench {

// ROMIO reports a full disk as MPI_ERR_IO, with the kernel's message in its text.
inline ErrorCode code_of_mpi(int code, std::string_view text) {
    int kind = MPI_ERR_IO;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_NO_SPACE || text.find("No space left") != std::string_view::npos) {
        return ErrorCode::no_space;
    }
    return kind == MPI_ERR_QUOTA          ? ErrorCode::quota
           : kind == MPI_ERR_READ_ONLY    ? ErrorCode::read_only
           : kind == MPI_ERR_NO_SUCH_FILE ? ErrorCode::no_such_file
           : kind == MPI_ERR_ACCESS       ? ErrorCode::access
                                          : ErrorCode::input_output;
}

// For `doing` "open /scratch/f" the message is "cannot open /scratch/f (…). …".
inline Error mpi_error(int code, std::string_view doing) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    std::string why(text.data(), static_cast<std::size_t>(length));
    std::replace(why.begin(), why.end(), '\n', ' ');  // MPICH's text has a stack of calls
    const ErrorCode ours = code_of_mpi(code, why);
    // MPICH's text for a full disk says only that there is an error.
    if (ours == ErrorCode::no_space) {
        why = "No space left on device";
    }
    return {ours, 0, fmt::format("cannot {} ({}). {}", doing, why, advice_on(ours))};
}

}  // namespace forebay::bench
