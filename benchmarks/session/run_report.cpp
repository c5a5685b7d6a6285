// Fills in the common part of a report: the run's circumstances, its outcome, and the output files.
#include "benchmarks/session/run_report.hpp"

#include "benchmarks/session/output.hpp"

namespace forebay::bench {

void begin(RunReport& report, const BenchmarkSession& session,
           const std::vector<std::string>& command) {
    report.command = command;
    report.started = utc_now();
    report.mpi = session.mpi_version();
    report.host = session.host();
    report.ranks = session.ranks();
    report.nodes = session.nodes();
    if (auto warning = session.oversubscribed()) {
        report.warnings.push_back(*warning);
    }
}

void conclude(RunReport& report, const Result<void>& done, bool data_wrong) {
    if (!done) {
        report.error = done.error().message;
        report.status = status_of(done.error());
    } else if (data_wrong) {
        report.status = ExitStatus::data_wrong;
    }
}

ExitStatus publish(RunReport& report,
                   const std::vector<std::pair<std::string, std::string>>& texts_of_files) {
    for (const auto& [path, text] : texts_of_files) {
        if (auto written = write_text(path, text); !written) {
            report.status = complain(written.error().message);
        }
    }
    if (!report.error.empty()) {
        complain(report.error);
    }
    return report.status;
}

}  // namespace forebay::bench
