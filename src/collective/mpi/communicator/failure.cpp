// A rank that fails alone would leave the others waiting. So either all ranks agree on an error, or
// the job ends.
#include "collective/mpi/communicator/failure.hpp"

#include "foundation/base/printable.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace forebay::adapters {

Result<void> mpi_result(int code, std::string_view doing) {
    if (code == MPI_SUCCESS) {
        return {};
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    PMPI_Error_string(code, text.data(), &length);
    return failure(Error{ErrorCode::input_output, EIO,
                         fmt::format("cannot {} (MPI says: {}). Set enabled = false to run "
                                     "without Forebay.",
                                     doing, text.data())});
}

Result<void> agree(MPI_Comm own, const Result<void>& mine) {
    struct {
        int severity;
        int rank;
    } vote{}, verdict{};
    static_assert(sizeof vote == 2 * sizeof(int));
    PMPI_Comm_rank(own, &vote.rank);
    vote.severity = mine ? 0 : mine.error().system == 0 ? EIO : mine.error().system;
    abort_if_failed(PMPI_Allreduce(&vote, &verdict, 1, MPI_2INT, MPI_MAXLOC, own), own,
                    "agree with all ranks");
    if (!mine || verdict.severity == 0) {
        return mine;
    }
    return failure(
        Error{ErrorCode::input_output, verdict.severity,
              fmt::format("cannot share memory between ranks (rank {} failed with errno {}). Look "
                          "at that rank's message; set enabled = false to run without Forebay.",
                          verdict.rank, verdict.severity)});
}

void abort_if_failed(int code, MPI_Comm own, std::string_view doing) {
    if (const Result<void> result = mpi_result(code, doing); !result) {
        abort_job(own, result.error().message);
    }
}

void abort_job(MPI_Comm own, std::string_view message) noexcept {
    std::fprintf(stderr, "forebay: %s\n", printable(message).c_str());
    std::fflush(stderr);
    PMPI_Abort(own, 1);
    std::abort();
}

}  // namespace forebay::adapters
