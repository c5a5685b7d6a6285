// Estimates upper bounds from the options, with saturating arithmetic.
#include "benchmarks/ior/estimate.hpp"

#include "benchmarks/measure/saturated.hpp"
#include "foundation/base/units.hpp"

#include <algorithm>
#include <map>

namespace forebay::ior {

namespace {

using measure::RunEstimate;
using measure::saturated_product;

// Whether the stonewall (-D) ends a phase; it does not if all ranks must reach the fastest one.
bool ends_by_wall(const IorOptions& o) noexcept {
    return o.stonewall_seconds > 0 && !o.wear_out && !o.check_write;
}

void estimate_time(const IorOptions& o, std::int64_t phases, RunEstimate& made) {
    const std::int64_t pauses =
        saturated_product(std::max<std::int64_t>(phases - 1, 0), o.delay_between_tests);
    const auto all = [&](std::int64_t phase_seconds) {
        return static_cast<double>(saturated_product(
            o.repetitions, saturated_sum(saturated_product(phases, phase_seconds), pauses)));
    };
    // The stonewall also ends a phase before its minimum duration.
    const std::int64_t least = o.stonewall_seconds > 0
                                   ? std::min(o.stonewall_seconds, o.duration_min_seconds)
                                   : o.duration_min_seconds;
    if (least > 0 || pauses > 0) {
        made.seconds_min = all(least);
    }
    if (ends_by_wall(o)) {
        made.seconds = all(o.stonewall_seconds);
    }
}

template <class Value>
std::optional<Value> sum_of(std::optional<Value> one, std::optional<Value> other) {
    return one && other ? std::optional<Value>(*one + *other) : std::nullopt;
}

}  // namespace

RunEstimate estimate_of(const PlannedTest& test) {
    const IorOptions& o = test.options;
    const std::int64_t all = test.geometry.bytes_of_all();
    const std::int64_t files = o.multi_file ? o.repetitions : 1;
    const std::int64_t reads = (o.reads() ? 1 : 0) + (o.check_write ? 1 : 0);
    RunEstimate made;
    made.bytes_read = saturated_product(all, reads, o.repetitions);
    if (o.own.read_percent > 0) {  // reads within the write phase
        made.bytes_read = saturated_sum(made.bytes_read, saturated_product(all, o.repetitions));
    }
    if (o.writes()) {
        const bool filled = (o.random_prefill > 0 && o.random_offset > 0) || o.own.read_percent > 0;
        made.bytes_written = saturated_product(all, o.repetitions, filled ? 2 : 1);
        if (o.api != "DUMMY") {
            made.bytes_kept_max = saturated_product(all, o.keep_file ? files : 1);
            made.files = saturated_product(files, o.file_per_process ? test.geometry.tasks : 1);
        }
    }
    estimate_time(o, reads + (o.writes() ? 1 : 0), made);
    return made;
}

RunEstimate estimate_of(std::span<const PlannedTest> tests) {
    RunEstimate total;
    total.seconds = 0;
    std::map<std::string, std::int64_t> kept;  // bytes by file name
    for (const PlannedTest& test : tests) {
        const RunEstimate one = estimate_of(test);
        total.bytes_written = saturated_sum(total.bytes_written, one.bytes_written);
        total.bytes_read = saturated_sum(total.bytes_read, one.bytes_read);
        total.files = saturated_sum(total.files, one.files);
        if (one.seconds_min) {
            total.seconds_min = total.seconds_min.value_or(0) + *one.seconds_min;
        }
        total.seconds = sum_of(total.seconds, one.seconds);
        std::int64_t& own = kept[test.options.test_file];
        own = std::max(own, one.bytes_kept_max);
        std::int64_t there = 0;
        for (const auto& [name, bytes] : kept) {
            there = saturated_sum(there, bytes);
        }
        total.bytes_kept_max = std::max(total.bytes_kept_max, there);
        if (!test.options.keep_file) {
            own = 0;
        }
    }
    return total;
}

}  // namespace forebay::ior
