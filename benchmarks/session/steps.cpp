// Refuses a run on all ranks, and prints the version.
#include "benchmarks/session/steps.hpp"

namespace forebay::bench {

std::string version_line() { return FOREBAY_VERSION "\n"; }

ExitStatus refused(const BenchmarkSession& session, const Error& error, ExitStatus status) {
    return session.is_first() ? complain(error.message, status) : status;
}

std::optional<ExitStatus> stopped(const BenchmarkSession& session,
                                  const std::function<Result<void>()>& of_first,
                                  ExitStatus status) {
    const Result<void> mine = session.is_first() ? of_first() : Result<void>{};
    if (auto fine = session.agreed(mine); !fine) {
        return refused(session, mine ? fine.error() : mine.error(), status);
    }
    return std::nullopt;
}

}  // namespace forebay::bench
