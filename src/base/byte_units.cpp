// See byte_units.hpp.
#include "base/byte_units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace forebay {

namespace {

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The power of 1024 that a unit stands for; nullopt for what is no unit.
std::optional<int> power_of(std::string_view unit) noexcept {
    if (unit.empty()) {
        return 0;
    }
    if (!std::all_of(unit.begin(), unit.end(), is_letter)) {
        return std::nullopt;
    }
    const auto first = static_cast<char>(unit.front() | 0x20);
    if (first == 'b') {
        return 0;
    }
    constexpr std::string_view units = "kmgtpe";
    const std::size_t at = units.find(first);
    return at == std::string_view::npos ? std::nullopt
                                        : std::optional<int>(static_cast<int>(at) + 1);
}

// "0.5 MiB": 0.5, 2 and "MiB".
struct Amount {
    std::string_view digits;
    int power = 0;
    std::string_view unit;
};

// The error's message is a reason, to be put between brackets.
Result<Amount> amount_in(std::string_view text) {
    const auto because = [](std::string why) {
        return failure({ErrorCode::argument, 0, std::move(why)});
    };
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
    }
    std::size_t end = !text.empty() && text.front() == '-' ? 1 : 0;
    const std::size_t first = end;
    while (end < text.size() && (text[end] == '.' || (text[end] >= '0' && text[end] <= '9'))) {
        ++end;
    }
    const std::string_view digits = text.substr(0, end);
    if (end == first || digits.substr(first) == ".") {
        return because("it does not begin with a number");
    }
    std::size_t unit = text.find_first_not_of(' ', end);
    if (unit == std::string_view::npos) {
        unit = end;
    }
    const std::optional<int> power = power_of(text.substr(unit));
    if (!power) {
        return because(fmt::format("\"{}\" is no unit", text.substr(unit)));
    }
    return Amount{digits, *power, text.substr(unit)};
}

tl::unexpected<Error> no_size(std::string_view text, std::string_view why) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot read the size \"{}\" ({}). Write a number and k, m, g, t "
                                "or p, as in 256k.",
                                text, why)});
}

Result<std::int64_t> whole(std::string_view text, std::string_view digits, int power) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    std::int64_t bytes = 0;
    if (error != std::errc{} || end != digits.data() + digits.size() ||
        __builtin_mul_overflow(value, std::int64_t{1} << (10 * power), &bytes)) {
        return no_size(text, "it does not fit into 64 bits");
    }
    return bytes;
}

Result<std::int64_t> fraction(std::string_view text, std::string_view digits, int power) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                              std::chars_format::fixed);
    const double bytes = std::ldexp(value, 10 * power);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        return no_size(text, "it is no number");
    }
    if (std::abs(bytes) >= 9e18) {
        return no_size(text, "it does not fit into 64 bits");
    }
    if (std::floor(bytes) != bytes) {
        return no_size(text, "it does not come to whole bytes");
    }
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

Result<std::int64_t> parse_size(std::string_view text) {
    const auto amount = amount_in(text);
    if (!amount) {
        return no_size(text, amount.error().message);
    }
    return amount->digits.find('.') == std::string_view::npos
               ? whole(text, amount->digits, amount->power)
               : fraction(text, amount->digits, amount->power);
}

Result<double> parse_rate(std::string_view text) {
    const auto no_rate = [&](std::string_view why) {
        return failure(
            {ErrorCode::argument, 0,
             fmt::format("cannot read the rate \"{}\" ({}). Write a number, k, M, G or T "
                         "and B/s, as in 2GB/s.",
                         text, why)});
    };
    if (!text.ends_with("/s")) {
        return no_rate("it does not end with /s");
    }
    const auto amount = amount_in(text.substr(0, text.size() - 2));
    if (!amount) {
        return no_rate(amount.error().message);
    }
    double value = 0.0;
    const std::string_view digits = amount->digits;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                              std::chars_format::fixed);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) {
        return no_rate("it is no number of at least 0");
    }
    const bool binary = amount->unit.size() > 1 && (amount->unit[1] | 0x20) == 'i';
    return value * std::pow(binary ? 1024.0 : 1000.0, amount->power);
}

std::string human_size(std::int64_t bytes) {
    constexpr std::array<std::pair<int, const char*>, 5> units{
        {{60, "EiB"}, {50, "PiB"}, {40, "TiB"}, {30, "GiB"}, {20, "MiB"}}};
    for (const auto& [bits, name] : units) {
        const std::int64_t unit = std::int64_t{1} << bits;
        if (bytes >= unit) {
            return bytes % unit == 0
                       ? fmt::format("{} {}", bytes / unit, name)
                       : fmt::format("{:.2f} {}",
                                     static_cast<double>(bytes) / static_cast<double>(unit), name);
        }
    }
    return bytes < 0 ? "-" : fmt::format("{} bytes", bytes);
}

}  // namespace forebay
