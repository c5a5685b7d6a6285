// Reports on a test's phases: rows of the table, warnings, wrong data, files of numbers. Rank 0
// prints them, from what it has gathered from all ranks.
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

    // -vvv: who is "writing", "reading" or "removing" what; an empty path is nothing.
    void doing(const std::string& what, const std::string& path) const;
    void begins(const std::string& access) const;
    // Says how many transfers were wrong and shows the first; the number, of all ranks.
    std::int64_t wrong_data(const PhaseOutcome& outcome, const std::string& access);
    // Gathers, shows and keeps a phase that went well.
    void finish(const PhaseOutcome& outcome, const std::string& access, std::int64_t repetition);
    void save(const std::string& path, const std::string& text);
    // The first file of numbers that this rank could not write.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }

    void warn_now(const std::string& line);
    // Once, after the tables.
    void warn_later(const std::string& line);
    // The same of what is no warning: --warningAsErrors does not count it.
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
