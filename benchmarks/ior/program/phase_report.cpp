// Gathers the ranks' results of a phase, and prints and saves them on rank 0.
#include "benchmarks/ior/program/phase_report.hpp"

#include "benchmarks/ior/documents/documents.hpp"
#include "benchmarks/ior/tables.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/session/output.hpp"
#include "benchmarks/session/session.hpp"
#include "foundation/base/printable.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>

namespace forebay::bench {

PhaseReport::PhaseReport(const TestSetting& setting, ior::TestResult& test)
    : setting_(setting), session_(*setting.session), test_(test), o_(test.options) {}

void PhaseReport::doing(const std::string& what, const std::string& path) const {
    if (o_.verbose < 3) {
        return;
    }
    const std::string mine =
        path.empty() ? "" : fmt::format("task {} {} {}\n", session_.rank(), what, printable(path));
    for (const std::string& line : session_.gathered(mine)) {
        setting_.print(line);
    }
}

void PhaseReport::begins(const std::string& access) const {
    if (o_.verbose >= 3) {
        setting_.print(fmt::format("Commencing {} performance test: {}\n", access, time_of_day()));
    }
}

std::int64_t PhaseReport::wrong_data(const PhaseOutcome& outcome, const std::string& access) {
    const std::int64_t wrong = session_.sum(outcome.wrong);
    if (wrong == 0) {
        return 0;
    }
    std::string mine;
    for (const std::string& mismatch : outcome.mismatches) {
        mine += fmt::format("rank {}: {}\n", session_.rank(), mismatch);
    }
    warn_now(fmt::format("Incorrect data on {} ({} errors found).", access, wrong));
    constexpr int shown_max = 10;
    int shown = 0;
    for (const std::string& part : session_.gathered(mine)) {
        for (std::size_t begin = 0; begin < part.size() && shown < shown_max; ++shown) {
            const std::size_t end = part.find('\n', begin);
            test_.mismatches.push_back(part.substr(begin, end - begin));
            setting_.warn("  " + test_.mismatches.back());
            begin = end + 1;
        }
    }
    for (const std::string& origin : session_.gathered(outcome.origin)) {
        if (!origin.empty()) {
            warn_now(origin);
            break;
        }
    }
    setting_.print(fmt::format("\nUsed Time Stamp {0} ({0:#x}) for Data Signature\n", test_.seed));
    return wrong;
}

void PhaseReport::finish(const PhaseOutcome& outcome, const std::string& access,
                         std::int64_t repetition) {
    ior::PhaseResult phase;
    phase.access = access;
    phase.repetition = repetition;
    phase.errors = outcome.wrong;
    phase.ranks = session_.all(outcome.times);
    phase.latency = session_.merged(outcome.latency);
    phase.stonewalled = o_.stonewall_seconds > 0;
    for (const ior::RankTimes& rank : phase.ranks) {
        phase.bytes += rank.bytes;
    }
    ior::summarise(phase, o_, session_.hosts());
    tell_stonewall(phase);
    warn_of_data(phase);
    if (o_.verbose >= 3) {
        setting_.print(ior::moments_text(test_, phase));
    }
    setting_.print(ior::phase_row(phase, o_));
    warn_of_outliers(phase);
    save_operations(outcome, phase);
    if (session_.first() && !o_.rank_details_file.empty()) {
        std::string& lines = setting_.numbers->of_ranks[o_.rank_details_file];
        lines += ior::rank_lines(phase, test_.id);
        save(o_.rank_details_file, ior::rank_head() + lines);
    }
    test_.phases.push_back(std::move(phase));
}

// Warns if generating data took a notable share of the time: while one rank generates, shared
// hardware serves the others, so rates come out too high.
void PhaseReport::warn_of_data(const ior::PhaseResult& phase) {
    constexpr double notable = 0.1;
    if (session_.size() == 1 || phase.repetition > 0 ||
        phase.data_seconds <= notable * phase.columns.transfers) {
        return;
    }
    advise(fmt::format(
        "Between its calls each rank {} data for {:.0f} % of the time that the {} took. That does "
        "not count, but the file system could catch up meanwhile: the bandwidth is between {:.2f} "
        "MiB/s (all of it counted) and what the table says.",
        phase.access == "write" ? "made" : "checked",
        100 * phase.data_seconds / phase.columns.transfers, phase.access, phase.with_data_mib));
}

void PhaseReport::tell_stonewall(const ior::PhaseResult& phase) const {
    if (!phase.stonewalled || !o_.wear_out) {
        return;
    }
    for (std::size_t rank = 0; o_.verbose >= 1 && rank < phase.ranks.size(); ++rank) {
        setting_.print(fmt::format("{}: stonewalling pairs accessed: {}\n", rank,
                                   phase.ranks[rank].stonewall_transfers));
    }
    const double gib = 1073741824.0;
    const auto bytes = static_cast<double>(o_.transfer_bytes);
    const double mean = phase.stonewall_mib * phase.stonewall_seconds * 1048576.0 / gib /
                        static_cast<double>(o_.own.ior_compat ? 1 : session_.size());
    setting_.print(fmt::format(
        "stonewalling pairs accessed min: {} max: {} -- min data: {:.1f} GiB mean data: {:.1f} "
        "GiB time: {:.1f}s\n",
        phase.stonewall_transfers_min, phase.stonewall_transfers_max,
        static_cast<double>(phase.stonewall_transfers_min) * bytes / gib, mean,
        phase.stonewall_seconds));
}

void PhaseReport::save(const std::string& path, const std::string& text) {
    if (const auto done = write_text(path, text); !done && !lost_) {
        lost_ = done.error();
    }
}

// Saves each call of a phase. A file contains all phases of its repetition: the first phase of the
// run truncates it, later ones append.
void PhaseReport::save_operations(const PhaseOutcome& outcome, const ior::PhaseResult& phase) {
    if (o_.operations_prefix.empty()) {
        return;
    }
    const std::string path =
        fmt::format("{}-{}-{}.csv", o_.operations_prefix, phase.repetition, session_.rank());
    const bool begins = setting_.numbers->begun.insert(path).second;
    std::string text = begins ? "time,runtime,tp,access,test\n" : "";
    for (const std::string& line : outcome.operation_lines) {
        text += fmt::format("{},{},{}\n", line, phase.access, test_.id);
    }
    std::FILE* const file = std::fopen(path.c_str(), begins ? "we" : "ae");
    const bool opened = file != nullptr;
    const bool written = opened && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    std::optional<Error> wrong;
    if (!opened || std::fclose(file) != 0 || !written) {
        wrong = system_error(errno, "write " + path);
    }
    lost_ = lost_ ? lost_ : wrong;
}

void PhaseReport::warn_of_outliers(const ior::PhaseResult& phase) {
    if (o_.outlier_seconds == 0) {
        return;
    }
    std::vector<double> seconds;
    seconds.reserve(phase.ranks.size());
    for (const ior::RankTimes& rank : phase.ranks) {
        seconds.push_back(rank.transfers_end - rank.transfers_begin);
    }
    const double mean = measure::summarise(seconds).mean;
    for (std::size_t rank = 0; rank < seconds.size(); ++rank) {
        if (std::abs(seconds[rank] - mean) > static_cast<double>(o_.outlier_seconds)) {
            warn_now(fmt::format("Task {} took {:.3f} s for {}, the mean is {:.3f} s", rank,
                                 seconds[rank], phase.access, mean));
        }
    }
}

void PhaseReport::warn_now(const std::string& line) {
    if (session_.first()) {
        setting_.warn("WARNING: " + line);
        test_.warnings_told.push_back(line);
    }
}

namespace {

void add_once(std::vector<std::string>& lines, const std::string& line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
        lines.push_back(line);
    }
}

}  // namespace

void PhaseReport::warn_later(const std::string& line) { add_once(test_.warnings, line); }

void PhaseReport::advise(const std::string& line) { add_once(test_.advice, line); }

}  // namespace forebay::bench
