// HPIO's command line with Forebay's additional options, as values.
#pragma once

#include "benchmarks/command_line/run_options.hpp"
#include "benchmarks/hpio/pattern.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace forebay::hpio {

enum class HpioDirection { write, read };
enum class AccessMethod { individual, collective, posix };
enum class DatatypeKind { vector, structure };
enum class VerifiedData { nothing, data, whole_file };
enum class AveragingMethod { all, without_extremes, best };
enum class GeneratedData { full, partial, none };

[[nodiscard]] std::string_view name_of(HpioDirection direction) noexcept;
[[nodiscard]] std::string_view name_of(AccessMethod method) noexcept;

// A line of the result table: one pattern, one direction, one method.
struct Point {
    std::string test;  // "bandwidth_single", "region_count", …, "pattern"
    HpioDirection direction = HpioDirection::write;
    AccessMethod method = AccessMethod::individual;
    Pattern pattern;
};

struct HpioCommand : command_line::RunOptions {
    std::string directory = ".";
    std::string name_prefix = "hpio";
    std::vector<Point> points;  // in the order of execution
    std::vector<std::pair<std::string, std::string>> hints;
    std::int64_t repetitions = 1;
    std::int64_t wait_seconds = 0;
    std::uint64_t seed = 1;
    DatatypeKind types = DatatypeKind::vector;
    VerifiedData verify = VerifiedData::whole_file;
    AveragingMethod average = AveragingMethod::all;
    GeneratedData generate = GeneratedData::partial;
    bool fsync = true;
    bool collective_fsync = false;
    bool keep_files = false;
    bool same_file = false;
    bool drop_caches = false;
    bool atomic = false;
};

[[nodiscard]] Result<HpioCommand> parse_command(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

// Upper bounds of the run with `ranks` ranks. Error: a pattern cannot be resolved for them.
[[nodiscard]] Result<measure::RunEstimate> estimate(const HpioCommand& request, std::int32_t ranks);

}  // namespace forebay::hpio
