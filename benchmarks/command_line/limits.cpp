// Parses the values of the limit options.
#include "benchmarks/command_line/limits.hpp"

#include "benchmarks/measure/byte_units.hpp"

namespace forebay::command_line {

namespace {

template <class Value>
Result<void> put(std::optional<Value>& to, const Result<Value>& value) {
    if (!value) {
        return failure(value.error());
    }
    to = *value;
    return {};
}

}  // namespace

Result<void> put_limit(std::size_t which, const std::string& text, RunLimits& to) {
    switch (which) {
        case 0: return put(to.budget.seconds, measure::parse_seconds(text));
        case 1: return put(to.budget.bytes, measure::parse_size(text));
        case 2: return put(to.budget.files, measure::parse_size(text));
        case 3: return put(to.budget.free_share, measure::parse_share(text));
        default: return put(to.stall_seconds, measure::parse_seconds(text));
    }
}

}  // namespace forebay::command_line
