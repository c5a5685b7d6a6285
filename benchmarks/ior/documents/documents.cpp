// Encodes the record as JSON and CSV.
#include "benchmarks/ior/documents/documents.hpp"

#include "benchmarks/ior/results.hpp"
#include "benchmarks/ior/tables.hpp"
#include "benchmarks/measure/statistics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace forebay::ior {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "forebay.bench.ior/1";

Json block_of(const std::vector<NamedValue>& names) {
    Json made = Json::object();
    for (const NamedValue& named : names) {
        made[named.name] = named.number ? Json(std::stoll(named.value)) : Json(named.value);
    }
    return made;
}

Json latency_of(const measure::LatencyHistogram& latency) {
    Json bars = Json::array();
    for (const auto& bar : latency.bars()) {
        bars.push_back({bar.up_to, bar.count});
    }
    return {{"p50_ns", latency.quantile(0.5)},  {"p90_ns", latency.quantile(0.9)},
            {"p99_ns", latency.quantile(0.99)}, {"p99_9_ns", latency.quantile(0.999)},
            {"max_ns", latency.max()},          {"min_ns", latency.min()},
            {"mean_ns", latency.mean()},        {"transfers", latency.total()},
            {"histogram_up_to_ns_count", bars}};
}

Json ranks_of(const PhaseResult& phase) {
    Json ranks = Json::array();
    for (std::size_t rank = 0; rank < phase.ranks.size(); ++rank) {
        const RankTimes& times = phase.ranks[rank];
        ranks.push_back({{"rank", rank},
                         {"node", times.node},
                         {"open_seconds", times.open_end - times.open_begin},
                         {"transfer_seconds", times.transfers_end - times.transfers_begin},
                         {"close_seconds", times.close_end - times.close_begin},
                         {"done_after_seconds", times.transfers_end},
                         {"data_seconds", times.data},
                         {"transfers", times.transfers},
                         {"bytes", times.bytes}});
    }
    return ranks;
}

Json nodes_of(const PhaseResult& phase) {
    Json nodes = Json::array();
    for (const NodeSpread& node : phase.nodes) {
        nodes.push_back({{"node", node.node},
                         {"host", node.host},
                         {"ranks", node.ranks},
                         {"seconds", node.seconds},
                         {"bw_mib_per_second", node.bandwidth_mib}});
    }
    return nodes;
}

Json result_of(const PhaseResult& phase, const IorOptions& options) {
    const ResultColumns& c = phase.columns;
    Json made{{"access", phase.access},
              {"iter", phase.repetition},
              {"bwMiB", c.bandwidth_mib},
              {"blockKiB", static_cast<double>(options.block_bytes) / 1024.0},
              {"xferKiB", static_cast<double>(options.transfer_bytes) / 1024.0},
              {"iops", c.operations},
              {"latency", c.latency},
              {"openTime", c.open},
              {"wrRdTime", c.transfers},
              {"closeTime", c.close},
              {"totalTime", c.total},
              {"bytes", phase.bytes},
              {"latency_of_transfers", latency_of(phase.latency)},
              {"first_done_seconds", phase.first_done},
              {"first_done_mib_per_second", phase.first_done_mib},
              {"last_done_seconds", phase.last_done},
              {"last_done_mib_per_second", phase.last_done_mib},
              {"data_seconds", phase.data_seconds},
              {"with_data_mib_per_second", phase.with_data_mib},
              {"slowest_rank", phase.slowest_rank},
              {"fastest_rank", phase.fastest_rank},
              {"median_rank_seconds", phase.median_rank_seconds},
              {"wrong_transfers", phase.errors},
              {"ranks", ranks_of(phase)},
              {"nodes", nodes_of(phase)}};
    if (phase.stonewalled) {
        made["stonewall_seconds"] = phase.stonewall_seconds;
        made["stonewall_mib_per_second"] = phase.stonewall_mib;
        made["stonewall_transfers_min"] = phase.stonewall_transfers_min;
        made["stonewall_transfers_max"] = phase.stonewall_transfers_max;
    }
    return made;
}

Json summary_of(const TestResult& test, const SummaryRow& row) {
    const IorOptions& o = test.options;
    const auto bandwidth = measure::summarise(row.bandwidths);
    const auto operations = measure::summarise(row.operations);
    const auto interval = measure::median_interval(row.bandwidths);
    return {{"operation", row.access},
            {"API", o.api},
            {"TestID", test.id},
            {"ReferenceNumber", o.reference_number},
            {"segmentCount", o.segments},
            {"blockSize", o.block_bytes},
            {"transferSize", o.transfer_bytes},
            {"numTasks", test.geometry.tasks},
            {"tasksPerNode", test.tasks_of_node},
            {"repetitions", o.repetitions},
            {"filePerProc", o.file_per_process ? 1 : 0},
            {"reorderTasks", o.reorder_constant ? 1 : 0},
            {"taskPerNodeOffset", o.task_per_node_offset},
            {"reorderTasksRandom", o.reorder_random},
            {"reorderTasksRandomSeed", o.reorder_seed},
            {"bwMaxMIB", bandwidth.max},
            {"bwMinMIB", bandwidth.min},
            {"bwMeanMIB", bandwidth.mean},
            {"bwStdMIB", bandwidth.deviation},
            {"OPsMax", operations.max},
            {"OPsMin", operations.min},
            {"OPsMean", operations.mean},
            {"OPsSD", operations.deviation},
            {"MeanTime", measure::summarise(row.seconds).mean},
            {"xsizeMiB", row.bytes_mean / bytes_per_mib},
            {"bw_median_mib_per_second", measure::median(row.bandwidths)},
            {"bw_median_lower_mib_per_second", interval.lower},
            {"bw_median_upper_mib_per_second", interval.upper},
            {"bw_median_coverage", interval.coverage}};
}

Json test_of(const TestResult& test) {
    Json made{{"TestID", test.id}, {"StartTime", test.started}, {"Path", test.path}};
    if (test.capacity_bytes) {
        made.update(block_of(file_system_block(test)));
        made["capacity_bytes"] = *test.capacity_bytes;
        made["used_share"] = test.used_share;
        made["inodes"] = test.inodes;
        made["used_inodes_share"] = test.used_inodes_share;
    }
    made["data_seed"] = test.seed;
    made["estimate"] = {{"bytes_written", test.estimate.bytes_written},
                        {"bytes_read", test.estimate.bytes_read},
                        {"bytes_kept_max", test.estimate.bytes_kept_max},
                        {"files", test.estimate.files}};
    made["Parameters"] = block_of(parameter_block(test));
    made["Options"] = block_of(option_block(test));
    made["Results"] = Json::array();
    for (const PhaseResult& phase : test.phases) {
        made["Results"].push_back(result_of(phase, test.options));
    }
    made["warnings"] = test.warnings_told;
    for (const auto* const lines : {&test.warnings, &test.advice}) {
        for (const std::string& line : *lines) {
            made["warnings"].push_back(line);
        }
    }
    made["mismatches"] = test.mismatches;
    return made;
}

}  // namespace

std::string json_document(const RunResult& run) {
    Json made{{"schema", schema},       {"Version", run.version},
              {"Began", run.began},     {"Command line", run.command},
              {"Machine", run.machine}, {"mpi_family", run.family}};
    made["tests"] = Json::array();
    made["summary"] = Json::array();
    for (const TestResult& test : run.tests) {
        made["tests"].push_back(test_of(test));
        for (const SummaryRow& row : summary_rows(test)) {
            made["summary"].push_back(summary_of(test, row));
        }
    }
    made["errors"] = run.errors;
    made["exit_status"] = run.exit_status;
    made["Finished"] = run.finished;
    // A file name may not be valid UTF-8; invalid bytes are replaced rather than causing an error.
    return made.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_document(const RunResult& run) {
    std::string text =
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
        "numTasks,iter,test,p50(s),p90(s),p99(s),p99.9(s),max(s),first_done(s),last_done(s)\n";
    for (const TestResult& test : run.tests) {
        for (const PhaseResult& phase : test.phases) {
            const ResultColumns& c = phase.columns;
            const auto& l = phase.latency;
            const auto at = [&](double fraction) {
                return static_cast<double>(l.quantile(fraction)) * 1e-9;
            };
            text +=
                fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            phase.access, c.bandwidth_mib, c.operations, c.latency,
                            static_cast<double>(test.options.block_bytes) / 1024.0,
                            static_cast<double>(test.options.transfer_bytes) / 1024.0, c.open,
                            c.transfers, c.close, c.total, test.geometry.tasks, phase.repetition,
                            test.id, at(0.5), at(0.9), at(0.99), at(0.999),
                            static_cast<double>(l.max()) * 1e-9, phase.first_done, phase.last_done);
        }
    }
    return text;
}

std::string rank_head() {
    return "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput,iter,"
           "test\n";
}

std::string rank_lines(const PhaseResult& phase, std::int64_t test) {
    std::string text;
    for (std::size_t rank = 0; rank < phase.ranks.size(); ++rank) {
        const RankTimes& t = phase.ranks[rank];
        const double all = t.close_end - t.open_begin;
        const double busy = t.transfers_end - t.transfers_begin;
        const auto bytes = static_cast<double>(t.bytes);
        text += fmt::format("{},{},{:.9f},{:.9f},{:.3f},{:.3f},{},{}\n", phase.access, rank, all,
                            busy, all > 0 ? bytes / all : 0.0, busy > 0 ? bytes / busy : 0.0,
                            phase.repetition, test);
    }
    return text;
}

}  // namespace forebay::ior
