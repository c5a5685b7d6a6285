// Reduces the ranks' times of a round.
#include "benchmarks/meta/program/phase.hpp"

#include <algorithm>

namespace forebay::bench {

ResultRow& ResultRows::row(const std::string& mode, const std::string& name, std::int64_t ranks) {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const ResultRow& one) {
        return one.mode == mode && one.name == name && one.ranks == ranks;
    });
    if (found != rows_.end()) {
        return *found;
    }
    ResultRow& made = rows_.emplace_back();
    made.mode = mode;
    made.name = name;
    made.ranks = ranks;
    return made;
}

void add_round(const BenchmarkSession& session, MPI_Comm ranks, const PhaseStopwatch& watch,
               double seconds, double late, ResultRow& row) {
    row.rounds.push_back({.operations = session.sum(watch.operations(), ranks),
                          .seconds = session.most(late + seconds, ranks),
                          .first_done_seconds = session.least(late + seconds, ranks)});
    row.latency.add(session.merged(watch.latency(), ranks));
    row.spread = session.spread(seconds, ranks);
}

}  // namespace forebay::bench
