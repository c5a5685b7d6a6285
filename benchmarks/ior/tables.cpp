// Renders IOR's output. Column widths are those of the reference outputs in tests/reference/ior.
#include "benchmarks/ior/tables.hpp"

#include "benchmarks/measure/byte_units.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "foundation/base/printable.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::ior {

namespace {

double transfer_mib(const IorOptions& options) noexcept {
    return static_cast<double>(options.transfer_bytes) / bytes_per_mib;
}

std::string line_of(const NamedValue& named) {
    return fmt::format("{:<20}: {}\n", named.name, printable(named.value));
}

NamedValue number(std::string name, std::int64_t value) {
    return {std::move(name), std::to_string(value), true};
}

// A percentage such as "75%" is kept as text.
NamedValue memory(std::string name, const std::string& text) {
    const auto bytes = measure::parse_size(text.empty() ? "0" : text);
    return bytes ? number(std::move(name), *bytes) : NamedValue{std::move(name), text};
}

std::string file_system_line(const TestResult& test) {
    const auto block = file_system_block(test);
    return block.empty()
               ? std::string()
               : fmt::format("{:<20}: {}   Used FS: {}   Inodes: {}   Used Inodes: {}\n", "FS",
                             block[0].value, block[1].value, block[2].value, block[3].value);
}

}  // namespace

std::string column(double value) {
    if (value < 0) {
        return "   -      ";
    }
    if (value < 1) {
        return fmt::format("{:<10.6f}", value);
    }
    return value < 3600 ? fmt::format("{:<10.2f}", value) : fmt::format("{:<10.0f}", value);
}

std::string head_text(const RunResult& run, std::int64_t verbose) {
    std::string text = fmt::format("IOR-{}: MPI Coordinated Test of Parallel I/O\n", run.version);
    text += line_of({"Began", run.began});
    text += line_of({"Command line", run.command});
    text += line_of({"Machine", verbose >= 2 ? run.machine_full : run.machine});
    return text;
}

std::vector<NamedValue> file_system_block(const TestResult& test) {
    if (!test.capacity_bytes) {
        return {};
    }
    const double gib = static_cast<double>(*test.capacity_bytes) / (1024.0 * bytes_per_mib);
    return {{"Capacity", gib > 1024.0 ? fmt::format("{:.1f} TiB", gib / 1024.0)
                                      : fmt::format("{:.1f} GiB", gib)},
            {"Used Capacity", fmt::format("{:.1f}%", test.used_share * 100)},
            {"Inodes", fmt::format("{:.1f} Mi", static_cast<double>(test.inodes) / bytes_per_mib)},
            {"Used Inodes", fmt::format("{:.1f}%", test.used_inodes_share * 100)}};
}

std::vector<NamedValue> parameter_block(const TestResult& test) {
    const IorOptions& o = test.options;
    const auto flag = [](const char* name, bool value) { return number(name, value ? 1 : 0); };
    return {number("testID", test.id),
            number("refnum", o.reference_number),
            {"api", o.api},
            {"platform", test.platform},
            {"testFileName", o.test_file},
            number("deadlineForStonewall", o.stonewall_seconds),
            flag("stoneWallingWearOut", o.wear_out),
            number("maxTimeDuration", o.duration_max_minutes),
            number("outlierThreshold", o.outlier_seconds),
            {"options", ""},
            flag("dryRun", o.own.dry_run),
            number("nodes", test.nodes),
            memory("memoryPerTask", o.memory_per_task),
            memory("memoryPerNode", o.memory_per_node),
            number("tasksPerNode", test.tasks_of_node),
            number("repetitions", o.repetitions),
            flag("multiFile", o.multi_file),
            number("interTestDelay", o.delay_between_tests),
            flag("fsync", o.fsync),
            flag("fsyncperwrite", o.fsync_per_write),
            flag("useExistingTestFile", o.use_existing),
            flag("uniqueDir", o.unique_directory),
            flag("singleXferAttempt", o.single_attempt),
            flag("readFile", o.reads()),
            flag("writeFile", o.writes()),
            flag("filePerProc", o.file_per_process),
            flag("reorderTasks", o.reorder_constant),
            number("reorderTasksRandom", o.reorder_random),
            number("reorderTasksRandomSeed", o.reorder_seed),
            number("randomOffset", o.random_offset),
            flag("checkWrite", o.check_write),
            flag("checkRead", o.check_read),
            number("dataPacketType", static_cast<std::int64_t>(o.packet())),
            flag("keepFile", o.keep_file),
            flag("keepFileWithError", o.keep_file_with_error),
            flag("warningAsErrors", o.warnings_are_errors),
            number("verbose", o.verbose),
            {"data packet type", o.packet_type.empty() ? "timestamp" : o.packet_type},
            number("setTimeStampSignature/incompressibleSeed", o.signature),
            flag("collective", o.collective),
            number("segmentCount", o.segments),
            number("transferSize", o.transfer_bytes),
            number("blockSize", o.block_bytes)};
}

std::vector<NamedValue> option_block(const TestResult& test) {
    const IorOptions& o = test.options;
    const std::string order = o.reorder_random > 0 ? "random task offset"
                              : o.reorder_constant ? "constant task offset"
                                                   : "no tasks offsets";
    std::vector<NamedValue> block{
        {"api", o.api},
        {"apiVersion", test.api_version},
        {"test filename", o.test_file},
        {"access", o.file_per_process ? "file-per-process" : "single-shared-file"},
        {"type", o.collective ? "collective" : "independent"},
        number("segments", o.segments),
        {"ordering in a file", o.random_offset > 0 ? "random" : "sequential"},
        {"ordering inter file", order}};
    if (o.reorder_random > 0 || o.reorder_constant) {
        block.push_back(number("task offset", o.task_per_node_offset));
    }
    if (o.reorder_random > 0) {
        block.push_back(number("reorder random seed", o.reorder_seed));
    }
    block.push_back(number("nodes", test.nodes));
    block.push_back(number("tasks", test.geometry.tasks));
    block.push_back(number("clients per node", test.tasks_of_node));
    if (!o.memory_per_task.empty()) {
        block.push_back({"memoryPerTask", o.memory_per_task});
    }
    if (!o.memory_per_node.empty()) {
        block.push_back({"memoryPerNode", o.memory_per_node});
    }
    const std::vector<NamedValue> rest{
        {"memoryBuffer", "CPU"},
        {"dataAccess", "CPU"},
        {"GPUDirect", "0"},
        number("repetitions", o.repetitions),
        {"xfersize", measure::human_size(o.transfer_bytes)},
        {"blocksize", measure::human_size(o.block_bytes)},
        {"aggregate filesize", measure::human_size(test.geometry.bytes_of_all())}};
    block.insert(block.end(), rest.begin(), rest.end());
    if (o.own.dry_run) {
        block.push_back(number("dryRun", 1));
    }
    if (o.verbose > 0) {
        block.push_back(number("verbose", o.verbose));
    }
    if (o.stonewall_seconds > 0) {
        block.push_back(number("stonewallingTime", o.stonewall_seconds));
        block.push_back(number("stoneWallingWearOut", o.wear_out ? 1 : 0));
    }
    return block;
}

std::string test_text(const TestResult& test) {
    std::string text = line_of(number("TestID", test.id));
    text += line_of({"StartTime", test.started});
    text += line_of({"Path", test.path});
    text += file_system_line(test);
    if (test.options.verbose >= 1) {
        text += line_of(number("Participating tasks", test.geometry.tasks));
        text += test.options.reorder_constant
                    ? "Using reorderTasks '-C' (useful to avoid read cache in client)\n"
                    : "";
    }
    if (test.options.verbose >= 3) {
        text += "\nParameters: \n";
        for (const NamedValue& named : parameter_block(test)) {
            text += line_of(named);
        }
    }
    text += "\nOptions: \n";
    for (const NamedValue& named : option_block(test)) {
        text += line_of(named);
    }
    return text + "\n";
}

std::string seed_line(const TestResult& test) {
    return fmt::format("Using Time Stamp {0} ({0:#x}) for Data Signature\n", test.seed);
}

std::string hits_line(const std::vector<std::int64_t>& sources) {
    std::vector<std::size_t> readers(sources.size(), 0);
    for (const std::int64_t source : sources) {
        ++readers[static_cast<std::size_t>(source)];
    }
    std::string text = "#File Hits Dist:";
    std::size_t told = 0;
    for (std::size_t count = 0; told < sources.size() && count < sources.size(); ++count) {
        const auto files = static_cast<std::size_t>(std::ranges::count(readers, count));
        text += fmt::format(" {}", files);
        told += files;
    }
    return text + "\n";
}

std::string results_head(const TestResult& test) {
    return "Results: \n" + (test.options.verbose >= 2 ? seed_line(test) : std::string()) +
           "\n"
           "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)  "
           " close(s)   total(s)   iter\n"
           "------    ---------  ----       ----------  ---------- ---------  --------   --------  "
           " --------   --------   ----\n";
}

std::string phase_row(const PhaseResult& phase, const IorOptions& options) {
    const ResultColumns& c = phase.columns;
    std::string row = fmt::format("{:<10}", phase.access);
    for (const double value : {c.bandwidth_mib, c.operations}) {
        row += column(value) + " ";
    }
    row += column(c.latency) + "  ";
    for (const double value : {static_cast<double>(options.block_bytes) / 1024.0,
                               static_cast<double>(options.transfer_bytes) / 1024.0, c.open,
                               c.transfers, c.close, c.total}) {
        row += column(value) + " ";
    }
    return row + fmt::format("{:<4}\n", phase.repetition);
}

std::string moments_text(const TestResult& test, const PhaseResult& phase) {
    std::string text;
    for (std::size_t rank = 0; rank < phase.ranks.size(); ++rank) {
        const RankTimes& t = phase.ranks[rank];
        const auto line = [&](double seconds, std::string_view what) {
            text += fmt::format("Test {}: Iter={}, Task={}, Time={:.6f}, {} {}\n", test.id,
                                phase.repetition, rank, t.began + seconds, phase.access, what);
        };
        line(t.open_begin, "open start");
        line(t.open_end, "open stop");
        line(t.transfers_begin, "start");
        line(t.transfers_end + t.data, "stop");
        line(t.close_begin + t.data, "close start");
        line(t.close_end + t.data, "close stop");
    }
    return text;
}

std::string remove_row(double seconds, std::int64_t repetition) {
    return "remove    -          -          -           -          -          -          -         "
           " -          " +
           column(seconds) + fmt::format(" {:<4}\n", repetition);
}

std::vector<SummaryRow> summary_rows(const TestResult& test) {
    std::vector<SummaryRow> rows;
    for (const char* access : {"write", "read"}) {
        SummaryRow row;
        row.access = access;
        for (const PhaseResult& phase : test.phases) {
            if (phase.access != access) {
                continue;
            }
            row.bandwidths.push_back(phase.columns.bandwidth_mib);
            row.operations.push_back(phase.columns.bandwidth_mib / transfer_mib(test.options));
            row.seconds.push_back(phase.columns.total);
            row.bytes_mean += static_cast<double>(phase.bytes);
            row.last = &phase;
        }
        if (row.last != nullptr) {
            row.bytes_mean /= static_cast<double>(row.bandwidths.size());
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::string maxima_text(const TestResult& test) {
    std::string text;
    for (const SummaryRow& row : summary_rows(test)) {
        const double most = measure::summarise(row.bandwidths).max;
        text += fmt::format("{} {:.2f} MiB/sec ({:.2f} MB/sec)\n",
                            row.access == "write" ? "Max Write:" : "Max Read: ", most,
                            most * bytes_per_mib / 1e6);
    }
    return text;
}

namespace {

std::string summary_row(const TestResult& test, const SummaryRow& row) {
    const IorOptions& o = test.options;
    const auto bandwidth = measure::summarise(row.bandwidths);
    const auto operations = measure::summarise(row.operations);
    std::string text = fmt::format(
        "{:<9} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} {:10.2f} "
        "{:10.5f} ",
        row.access, bandwidth.max, bandwidth.min, bandwidth.mean, bandwidth.deviation,
        operations.max, operations.min, operations.mean, operations.deviation,
        measure::summarise(row.seconds).mean);
    const bool shows_stonewall = row.last->stonewalled && o.wear_out;
    text += shows_stonewall ? fmt::format("{:10.2f} {:13.2f} ", row.last->stonewall_seconds,
                                          row.last->stonewall_mib)
                            : fmt::format("{:>10} {:>13} ", "NA", "NA");
    return text + fmt::format(
                      "{:5} {:6} {:3} {:4} {:3} {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1f} "
                      "{:>5} {:6}\n",
                      test.id, test.geometry.tasks, test.tasks_of_node, o.repetitions,
                      o.file_per_process ? 1 : 0, o.reorder_constant ? 1 : 0,
                      o.task_per_node_offset, o.reorder_random, o.reorder_seed, o.segments,
                      o.block_bytes, o.transfer_bytes, row.bytes_mean / bytes_per_mib, o.api,
                      o.reference_number);
}

}  // namespace

std::string summary_text(const RunResult& run) {
    std::string text =
        "\nSummary of all tests:\n"
        "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)    "
        " StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff "
        "reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum\n";
    for (const TestResult& test : run.tests) {
        for (const SummaryRow& row : summary_rows(test)) {
            text += summary_row(test, row);
        }
    }
    return text + line_of({"Finished", run.finished});
}

}  // namespace forebay::ior
