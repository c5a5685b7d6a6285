// Reports the phases of a test: rows of the table, warnings, wrong data, and files of numbers. Rank
// 0 prints and writes them, from the results that it has gathered from all ranks.
#pragma once

#include "benchmarks/ior/program/phase.hpp"
#include "benchmarks/ior/program/test_run.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::bench {

class PhaseReport {
public:
    PhaseReport(const TestSetting& setting, ior::TestResult& test);

    // -vvv: prints that this rank is "writing", "reading" or "removing" `path`; does nothing if it
    // is empty.
    void doing(const std::string& what, const std::string& path) const;
    void begins(const std::string& access) const;
    // Reports the number of transfers with wrong data, and the first ones. Returns the sum over all
    // ranks.
    std::int64_t wrong_data(const PhaseOutcome& outcome, const std::string& access);
    // Gathers, prints and stores a phase that succeeded.
    void finish(const PhaseOutcome& outcome, const std::string& access, std::int64_t repetition);
    void save(const std::string& path, const std::string& text);
    // The first error of writing a file of numbers on this rank.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }

    void warn_now(const std::string& line);
    // Prints the line once, after the tables.
    void warn_later(const std::string& line);
    // As warn_later(), for a remark that --warningAsErrors does not count.
    void advise(const std::string& line);

private:
    void tell_stonewall(const ior::PhaseResult& phase) const;
    void warn_of_data(const ior::PhaseResult& phase);
    void warn_of_outliers(const ior::PhaseResult& phase);
    void save_operations(const PhaseOutcome& outcome, const ior::PhaseResult& phase);

    const TestSetting& setting_;
    const TestRanks& session_;
    ior::TestResult& test_;
    const ior::IorOptions& o_;
    std::optional<Error> lost_;
};

}  // namespace forebay::bench
