// All-reduces over the ranks of a file. The error of the lowest failing rank becomes that of all.
#include "output/mpi/agreement.hpp"

#include "foundation/base/printable.hpp"

#include <array>
#include <fmt/format.h>

namespace forebay::output {
namespace {

struct SentError {
    ErrorCode code = ErrorCode::input_output;
    int system = 0;
    int length = 0;
};

ErrorCode code_of(int mpi_class) {
    switch (mpi_class) {
        case MPI_ERR_NO_SPACE: return ErrorCode::no_space;
        case MPI_ERR_QUOTA: return ErrorCode::quota;
        case MPI_ERR_READ_ONLY: return ErrorCode::read_only;
        case MPI_ERR_NO_SUCH_FILE: return ErrorCode::no_such_file;
        case MPI_ERR_ACCESS: return ErrorCode::access;
        default: return ErrorCode::input_output;
    }
}

}  // namespace

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

Result<void> agreed(MPI_Comm comm, const Result<void>& mine) {
    struct {
        int good;
        int rank;
    } vote{mine.has_value() ? 1 : 0, rank_in(comm)}, verdict{};
    PMPI_Allreduce(&vote, &verdict, 1, MPI_2INT, MPI_MINLOC, comm);
    if (verdict.good == 1) {
        return {};
    }
    SentError sent;
    std::string text;
    if (vote.rank == verdict.rank) {
        text = ranks_of(comm) > 1 ? fmt::format("rank {}: {}", vote.rank, mine.error().message)
                                  : mine.error().message;
        sent = {mine.error().code, mine.error().system, static_cast<int>(text.size())};
    }
    PMPI_Bcast(&sent, sizeof sent, MPI_BYTE, verdict.rank, comm);
    text.resize(static_cast<std::size_t>(sent.length));
    PMPI_Bcast(text.data(), sent.length, MPI_BYTE, verdict.rank, comm);
    return failure(Error{sent.code, sent.system, std::move(text)});
}

Result<void> same_on_all(MPI_Comm comm, const std::string& text, std::string_view call) {
    auto length = static_cast<int>(text.size());
    PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
    std::string first = text;
    first.resize(static_cast<std::size_t>(length));
    PMPI_Bcast(first.data(), length, MPI_BYTE, 0, comm);
    if (first == text) {
        return agreed(comm, {});
    }
    return agreed(comm, failure(Error{ErrorCode::argument, 0,
                                      fmt::format("{} has other arguments here than on rank 0 ({} "
                                                  "instead of {}). Give the same on all ranks.",
                                                  call, printable(text), printable(first))}));
}

Result<void> file_result(int code, std::string_view doing) {
    if (code == MPI_SUCCESS) {
        return {};
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    int mpi_class = 0;
    PMPI_Error_string(code, text.data(), &length);
    PMPI_Error_class(code, &mpi_class);
    const ErrorCode found = code_of(mpi_class);
    return failure(
        Error{found, 0,
              fmt::format("cannot {} ({}). {}", doing, printable(text.data()), advice_on(found))});
}

}  // namespace forebay::output
