// Implements agreement by reductions and broadcasts.
#include "benchmarks/session/together.hpp"

#include "benchmarks/session/output.hpp"

#include <array>
#include <exception>
#include <fmt/format.h>

namespace forebay::bench {

Result<void> agreed(const Result<void>& mine, MPI_Comm ranks) {
    int own = 0;
    int size = 0;
    MPI_Comm_rank(ranks, &own);
    MPI_Comm_size(ranks, &size);
    const int failed = mine ? size : own;
    int first = size;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, ranks);
    if (first == size) {
        return {};
    }
    std::string text;
    std::array<int, 3> numbers{};
    if (first == own) {
        text = mine.error().message;
        const bool agreed_before = text.starts_with("rank ");  // agreed before among fewer ranks
        if (size > 1 && !agreed_before) {
            text = fmt::format("rank {}: {}", own, text);
        }
        numbers = {static_cast<int>(mine.error().code), mine.error().system,
                   static_cast<int>(text.size())};
    }
    MPI_Bcast(numbers.data(), 3, MPI_INT, first, ranks);
    text.resize(static_cast<std::size_t>(numbers[2]));
    MPI_Bcast(text.data(), numbers[2], MPI_CHAR, first, ranks);
    return failure(Error{static_cast<ErrorCode>(numbers[0]), numbers[1], text});
}

std::int64_t sum(std::int64_t mine, MPI_Comm ranks) {
    std::int64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, ranks);
    return all;
}

std::vector<std::string> gathered(const std::string& mine, MPI_Comm ranks) {
    int own = 0;
    int size = 0;
    MPI_Comm_rank(ranks, &own);
    MPI_Comm_size(ranks, &size);
    const auto length = static_cast<int>(mine.size());
    std::vector<int> lengths(own == 0 ? static_cast<std::size_t>(size) : 0);
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, ranks);
    std::vector<int> begins;
    int total = 0;
    for (const int one : lengths) {
        begins.push_back(total);
        total += one;
    }
    std::string text(static_cast<std::size_t>(total), '\0');
    MPI_Gatherv(mine.data(), length, MPI_CHAR, text.data(), lengths.data(), begins.data(), MPI_CHAR,
                0, ranks);
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < lengths.size(); ++at) {
        parts.push_back(text.substr(static_cast<std::size_t>(begins[at]),
                                    static_cast<std::size_t>(lengths[at])));
    }
    return parts;
}

measure::LatencyHistogram merged(const measure::LatencyHistogram& mine, MPI_Comm ranks) {
    const auto counts = mine.counts();
    std::vector<std::uint64_t> all(counts.size());
    MPI_Reduce(counts.data(), all.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, 0,
               ranks);
    const auto own = mine.extremes();
    measure::LatencyHistogram::Extremes extremes;
    MPI_Reduce(&own.min, &extremes.min, 1, MPI_UINT64_T, MPI_MIN, 0, ranks);
    MPI_Reduce(&own.max, &extremes.max, 1, MPI_UINT64_T, MPI_MAX, 0, ranks);
    MPI_Reduce(&own.sum, &extremes.sum, 1, MPI_UINT64_T, MPI_SUM, 0, ranks);
    return measure::LatencyHistogram::merged(all, extremes);
}

int exit_code(const std::function<measure::ExitStatus()>& program, const std::string& advice) {
    try {
        return measure::code(program());
    } catch (const std::exception& error) {
        const int status =
            measure::code(complain(fmt::format("out of resources ({}). {}", error.what(), advice)));
        MPI_Abort(MPI_COMM_WORLD, status);
        return status;
    }
}

}  // namespace forebay::bench
