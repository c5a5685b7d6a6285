// Gathers what the record says of a job and of its files; only rank 0 writes.
#include "collective/mpi/report.hpp"

#include "collective/mpi/process.hpp"
#include "collective/mpi/status.hpp"
#include "foundation/base/counted.hpp"
#include "foundation/base/host_name.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/record/lines.hpp"
#include "storage/posix/clock.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace forebay::interposer {

namespace {

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    const std::string_view all(text.data());
    std::string line(all.substr(0, all.find('\n')));
    for (char& c : line) {
        c = c == '\t' ? ' ' : c;
    }
    return line;
}

std::string command_line() {
    std::string text = kernel::contents("/proc/self/cmdline").value_or(std::string());
    while (!text.empty() && text.back() == '\0') {
        text.pop_back();
    }
    for (char& c : text) {
        c = c == '\0' ? ' ' : c;
    }
    return text;
}

std::vector<std::int32_t> numbers_of(std::string_view text) {
    std::vector<std::int32_t> numbers;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        std::int32_t number = 0;
        const std::string_view digits = text.substr(0, end);
        std::from_chars(digits.begin(), digits.end(), number);
        numbers.push_back(number);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return numbers;
}

std::int64_t nodes_of(const OpenFile& file) {
    const CachedCommunicator* cached_communicator = file.cached_communicator();
    return cached_communicator == nullptr || !cached_communicator->group
               ? 1
               : cached_communicator->group->place().nodes;
}

record::FileLine line_of(const OpenFile& file) {
    record::FileLine line;
    line.path = file.facts().path;
    line.ranks = file.facts().ranks;
    line.nodes = nodes_of(file);
    line.aggregators = numbers_of(file.aggregators());
    line.targets = file.layout().targets;
    line.stripe_bytes = file.layout().stripe_bytes;
    line.open_ns = file.facts().open_ns;
    line.warnings = file.facts().warnings;
    for (std::size_t i = 0; i < setting_count; ++i) {
        line.settings.emplace_back(setting_rows[i].name,
                                   file.settings().text(static_cast<Setting>(i)));
    }
    return line;
}

void append(const std::string& record, const std::string& line) {
    const auto done = record::append_line(record, line);
    if (!done) {
        say(done.error().message);
    }
}

void append(const OpenFile& file, const std::string& line) {
    append(file.settings().text(Setting::record), line);
}

int rank_in_world() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

}  // namespace

void announce(const OpenFile& file) {
    if (!file.settings().flag(Setting::verbose) || file.facts().rank != 0) {
        return;
    }
    for (const std::string& warning : file.facts().warnings) {
        say(warning);
    }
    if (file.ours()) {
        say(fmt::format("{}: collective calls of {} on {} are taken over", file.facts().path,
                        counted(file.facts().ranks, "rank"), counted(nodes_of(file), "node")));
    } else {
        say(fmt::format("{}: left to the MPI ({})", file.facts().path,
                        reason_of(file.facts().standing)));
    }
}

void report_job(const OpenFile& file) {
    if (!file.facts().recording || file.facts().rank != 0 || !first_record()) {
        return;
    }
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto now =
        std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    record::JobLine line;
    line.forebay = FOREBAY_VERSION;
    line.mpi = mpi_version();
    line.family = FOREBAY_MPI_FAMILY;
    line.ranks = ranks;
    line.rank = rank_in_world();
    line.nodes = nodes_of(file);
    line.pid = ::getpid();
    line.host = host_name();
    line.command = command_line();
    line.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
    append(file, record::to_json(line));
    report_end_at_finalize(file.settings().text(Setting::record));
}

void report_end(const std::string& record) {
    const auto age = adapters::process_age_ns();
    if (!age) {
        return;
    }
    record::EndLine line;
    line.rank = rank_in_world();
    line.pid = ::getpid();
    line.host = host_name();
    line.process_ns = *age;
    append(record, record::to_json(line));
}

void report_closed(const OpenFile& file) {
    if (!file.facts().recording) {
        return;
    }
    const CachedCommunicator* cached_communicator = file.cached_communicator();
    const bool together = cached_communicator != nullptr && cached_communicator->group;
    record::FileLine line = line_of(file);
    file.counters().fill(line, together ? cached_communicator->group->own() : MPI_COMM_NULL,
                         reason_of(file.facts().standing));
    if (file.facts().rank == 0) {
        append(file, record::to_json(line));
    }
}

void report_unclosed(const OpenFile& file) {
    if (!file.facts().recording || file.facts().rank != 0) {
        return;
    }
    record::FileLine line = line_of(file);
    line.closed = false;
    file.counters().fill(line, MPI_COMM_NULL, reason_of(file.facts().standing));
    append(file, record::to_json(line));
}

}  // namespace forebay::interposer
