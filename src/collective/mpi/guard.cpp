// Nothing here allocates memory: there may be none left.
#include "collective/mpi/guard.hpp"

#include "collective/mpi/status.hpp"
#include "foundation/kernel/calls.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <unistd.h>

namespace forebay::interposer {

namespace {

struct ExceptionRow {
    bool (*is)(const std::exception*) noexcept;
    int error_class;
    const char* why;
    const char* next;
};

constexpr std::array<ExceptionRow, 2> exception_rows{
    ExceptionRow{[](const std::exception* thrown) noexcept {
                     return dynamic_cast<const std::bad_alloc*>(thrown) != nullptr;
                 },
                 MPI_ERR_NO_MEM, "no memory is left",
                 "Give the job more memory, or run fewer ranks on a node."},
    ExceptionRow{[](const std::exception*) noexcept { return true; }, MPI_ERR_INTERN,
                 "a mistake of Forebay's",
                 "Report it, and set FOREBAY_ENABLED=false to go on without Forebay."},
};

const ExceptionRow& row_of(const std::exception* thrown) noexcept {
    for (const ExceptionRow& row : exception_rows) {
        if (row.is(thrown)) {
            return row;
        }
    }
    return exception_rows.back();
}

const ExceptionRow& row_of_current() noexcept {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return row_of(&thrown);
    } catch (...) {
        return row_of(nullptr);
    }
}

void say_without_memory(const ExceptionRow& row) noexcept {
    std::array<char, 256> line{};
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int length = std::snprintf(line.data(), line.size(),
                                     "forebay: rank %d cannot end a file call (%s). %s\n", rank,
                                     row.why, row.next);
    [[maybe_unused]] const auto written =
        kernel::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
}

}  // namespace

int convert_exception(MPI_File file, WaitingRanks waiting) noexcept {
    const ExceptionRow& row = row_of_current();
    say_without_memory(row);
    if (waiting == WaitingRanks::others) {
        PMPI_Abort(MPI_COMM_WORLD, row.error_class);
    }
    return raise(file, row.error_class);
}

}  // namespace forebay::interposer
