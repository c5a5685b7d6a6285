// Compares an estimate with a budget, and parses and prints both.
#include "benchmarks/measure/budget.hpp"

#include "benchmarks/measure/byte_units.hpp"

#include <charconv>
#include <fmt/format.h>

namespace forebay::measure {

namespace {

tl::unexpected<Error> over(std::string_view what, const std::string& is, const std::string& allows,
                           std::string_view option) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("the run is not started ({} {}, the budget allows {}). Make it "
                                "smaller, or allow it with {}.",
                                what, is, allows, option)});
}

std::string amount(std::int64_t bytes) { return measure::human_size(bytes); }

std::string time_text(const RunEstimate& estimate) {
    std::string text;
    if (estimate.seconds_min) {
        text = fmt::format("at least {:.0f} s", *estimate.seconds_min);
    }
    if (estimate.seconds) {
        text += fmt::format("{}at most {:.0f} s", text.empty() ? "" : ", ", *estimate.seconds);
    }
    return text.empty() ? "time not known before" : text;
}

std::optional<double> number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::string describe(const RunEstimate& estimate) {
    return fmt::format("writes {} into {} file{}, reads {}, holds {} at a time, {}",
                       amount(estimate.bytes_written), estimate.files,
                       estimate.files == 1 ? "" : "s", amount(estimate.bytes_read),
                       amount(estimate.bytes_kept_max), time_text(estimate));
}

Result<void> allowed(const RunEstimate& estimate, const Budget& budget,
                     std::optional<std::int64_t> free_bytes) {
    if (budget.bytes && estimate.bytes_written > *budget.bytes) {
        return over("it writes", amount(estimate.bytes_written), amount(*budget.bytes),
                    "--budget-bytes");
    }
    if (budget.files && estimate.files > *budget.files) {
        return over("files made:", std::to_string(estimate.files), std::to_string(*budget.files),
                    "--budget-files");
    }
    const auto seconds = estimate.seconds ? estimate.seconds : estimate.seconds_min;
    if (budget.seconds && seconds && *seconds > *budget.seconds) {
        return over(estimate.seconds ? "it can take" : "it takes",
                    fmt::format("{:.0f} s", *seconds), fmt::format("{:.0f} s", *budget.seconds),
                    "--budget-time");
    }
    if (budget.free_share && free_bytes) {
        const double most = *budget.free_share * static_cast<double>(*free_bytes);
        if (static_cast<double>(estimate.bytes_kept_max) > most) {
            return over(
                "it holds", amount(estimate.bytes_kept_max),
                fmt::format("{:.3g} % of {} free", *budget.free_share * 100, amount(*free_bytes)),
                "--budget-share");
        }
    }
    return {};
}

Result<double> parse_seconds(const std::string& text) {
    std::string_view rest = text;
    double unit = 1.0;
    if (!rest.empty() && (rest.back() == 's' || rest.back() == 'm' || rest.back() == 'h')) {
        unit = rest.back() == 's' ? 1.0 : rest.back() == 'm' ? 60.0 : 3600.0;
        rest.remove_suffix(1);
    }
    if (const auto value = number(rest)) {
        return *value * unit;
    }
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot read the time \"{}\" (it is no number of seconds). Write "
                                "60, 90s, 5m or 2h.",
                                text)});
}

Result<double> parse_share(const std::string& text) {
    std::string_view rest = text;
    const bool percent = !rest.empty() && rest.back() == '%';
    if (percent) {
        rest.remove_suffix(1);
    }
    const auto value = number(rest);
    const double share = value.value_or(-1.0) / (percent ? 100.0 : 1.0);
    if (share >= 0.0 && share <= 1.0) {
        return share;
    }
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot read the share \"{}\" (it is not between 0 and 1). Write "
                                "10% or 0.1.",
                                text)});
}

}  // namespace forebay::measure
