// Parses sizes and rates without rounding: decimal fractions are scaled in integers.
#include "foundation/base/byte_size.hpp"

#include "foundation/base/letters.hpp"
#include "foundation/base/text_parts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>

namespace forebay {

namespace {

constexpr std::string_view digits = "0123456789";

bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

tl::unexpected<Error> no_size(std::string_view text, std::string_view why) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot read the size \"{}\" ({}). Write a number and k, m, g, t "
                                "or p, as in 256k.",
                                text, why)});
}

// The exponent of 1024 that `unit` stands for; nullopt if `unit` is not a unit.
std::optional<int> power_of(std::string_view unit, UnitSpelling spelling) noexcept {
    if (unit.empty()) {
        return 0;
    }
    const std::string_view rest = unit.substr(1);
    const bool any = spelling == UnitSpelling::first_letter && std::ranges::all_of(rest, is_letter);
    if (lower(unit.front()) == 'b') {
        return rest.empty() || any ? std::optional<int>(0) : std::nullopt;
    }
    const auto is = [&](std::string_view word) {
        return std::ranges::equal(rest, word, {}, lower);
    };
    const std::size_t at = std::string_view("kmgtpe").find(lower(unit.front()));
    if (at == std::string_view::npos || !(any || is("") || is("b") || is("i") || is("ib"))) {
        return std::nullopt;
    }
    return static_cast<int>(at) + 1;
}

// The decimal number `whole`.`part` times 1024^`power`, computed without rounding: 10^n is 2^n
// times 5^n, so only the factor 5^n has to divide the digits.
Result<std::int64_t> scaled(std::string_view text, std::string_view whole, std::string_view part,
                            int power) {
    const std::size_t last = part.find_last_not_of('0');
    part = part.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const std::string all = std::string(whole) + std::string(part);
    std::int64_t value = 0;
    if (all.empty()) {  // ".0"
        return 0;
    }
    const auto [end, code] = std::from_chars(all.data(), all.data() + all.size(), value);
    int shift = 10 * power - static_cast<int>(part.size());
    for (std::size_t i = 0; i < part.size() && code == std::errc{}; ++i) {
        if (value % 5 != 0) {
            return no_size(text, "it does not come to whole bytes");
        }
        value /= 5;
    }
    for (; shift < 0 && code == std::errc{}; ++shift) {
        if (value % 2 != 0) {
            return no_size(text, "it does not come to whole bytes");
        }
        value /= 2;
    }
    if (code != std::errc{} || value > (std::numeric_limits<std::int64_t>::max() >> shift)) {
        return no_size(text, "it does not fit into 64 bits");
    }
    return value << shift;
}

}  // namespace

Result<std::int64_t> parse_size(std::string_view text, UnitSpelling spelling) {
    std::string_view rest = trimmed(text);
    const bool negative =
        spelling == UnitSpelling::first_letter && !rest.empty() && rest.front() == '-';
    if (negative || (!rest.empty() && rest.front() == '+')) {
        rest.remove_prefix(1);
    }
    const auto take_digits = [&rest] {
        const std::size_t end = std::min(rest.find_first_not_of(digits), rest.size());
        const std::string_view taken = rest.substr(0, end);
        rest.remove_prefix(end);
        return taken;
    };
    const std::string_view whole = take_digits();
    std::string_view part;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        part = take_digits();
    }
    if (whole.empty() && part.empty()) {
        return no_size(text, "it does not begin with a number");
    }
    const std::string_view unit = trimmed(rest);
    const std::optional<int> power = power_of(unit, spelling);
    if (!power) {
        return no_size(text, fmt::format("\"{}\" is no unit", unit));
    }
    return scaled(text, whole, part, *power).map([&](std::int64_t size) {
        return negative ? -size : size;
    });
}

Result<double> parse_rate(std::string_view text) {
    const auto no_rate = [&](std::string_view why) {
        return failure(
            {ErrorCode::argument, 0,
             fmt::format("cannot read the rate \"{}\" ({}). Write a number, k, M, G or T and B/s, "
                         "as in 2GB/s.",
                         text, why)});
    };
    std::string_view rest = trimmed(text);
    if (!rest.ends_with("/s")) {
        return no_rate("it does not end with /s");
    }
    rest.remove_suffix(2);
    double value = 0.0;
    const auto [end, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
    if (code != std::errc{} || value < 0 || !std::isfinite(value)) {
        return no_rate("it is no number of at least 0");
    }
    const std::string_view unit = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
    const std::optional<int> power = power_of(unit, UnitSpelling::exact);
    if (!power) {
        return no_rate(fmt::format("\"{}\" is no unit", unit));
    }
    const bool binary = unit.size() > 1 && lower(unit[1]) == 'i';
    return value * std::pow(binary ? 1024.0 : 1000.0, *power);
}

}  // namespace forebay
