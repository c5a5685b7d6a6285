// The table of error classes, and the calls of error handlers.
#include "collective/mpi/status.hpp"

#include "entry/functions.hpp"
#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"

#include <array>
#include <string_view>
#include <unistd.h>

namespace forebay::interposer {

namespace {

struct ErrorRow {
    ErrorCode code;
    int error_class;
    const char* name;
};

constexpr std::array<ErrorRow, 5> error_rows{
    ErrorRow{ErrorCode::no_space, MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE"},
    ErrorRow{ErrorCode::quota, MPI_ERR_QUOTA, "MPI_ERR_QUOTA"},
    ErrorRow{ErrorCode::read_only, MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY"},
    ErrorRow{ErrorCode::access, MPI_ERR_ACCESS, "MPI_ERR_ACCESS"},
    ErrorRow{ErrorCode::input_output, MPI_ERR_IO, "MPI_ERR_IO"},
};

const ErrorRow& row_of(ErrorCode code) noexcept {
    for (const ErrorRow& row : error_rows) {
        if (row.code == code) {
            return row;
        }
    }
    return error_rows.back();
}

}  // namespace

void set_status(MPI_Status* status, std::int64_t bytes) noexcept {
    if (status == nullptr || status == MPI_STATUS_IGNORE) {
        return;
    }
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

int error_class_of(ErrorCode code) noexcept { return row_of(code).error_class; }

const char* error_class_name(ErrorCode code) noexcept { return row_of(code).name; }

int raise_at_open(int code) noexcept {
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    real::get_errhandler(MPI_FILE_NULL, &handler);
    if (handler == MPI_ERRORS_RETURN) {
        return code;
    }
    if (handler == MPI_ERRORS_ARE_FATAL) {
        PMPI_Abort(MPI_COMM_WORLD, code);
    }
    // Open MPI 4 does not take MPI_FILE_NULL here, against the standard (14.7).
    return raise(MPI_FILE_NULL, code);
}

int raise(MPI_File file, int code) noexcept {
    real::call_errhandler(file, code);
    return code;
}

namespace {

// `message` with unprintable characters escaped; empty if there is no memory for that.
std::string shown(const std::string& message) noexcept {
    try {
        return printable(message);
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

void say(const std::string& text) noexcept {
    // Works without memory, too, since it may have to say that there is none left.
    const std::string escaped = shown(text);
    const std::string& message = escaped.empty() ? text : escaped;
    std::string_view name = "forebay: ";
    std::string_view end = "\n";
    const std::array<iovec, 3> line{iovec{const_cast<char*>(name.data()), name.size()},
                                    iovec{const_cast<char*>(message.data()), message.size()},
                                    iovec{const_cast<char*>(end.data()), end.size()}};
    [[maybe_unused]] const auto written = kernel::writev(STDERR_FILENO, line.data(), 3);
}

}  // namespace forebay::interposer
