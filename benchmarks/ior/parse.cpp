// Parses command lines and directives by the table of options.
#include "benchmarks/ior/parse.hpp"

#include "benchmarks/command_line/options.hpp"
#include "benchmarks/ior/option_table.hpp"
#include "benchmarks/measure/byte_units.hpp"
#include "foundation/base/byte_size.hpp"
#include "foundation/base/switch_words.hpp"
#include "foundation/base/text_parts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace forebay::ior {

namespace {

tl::unexpected<Error> usage(std::string message) {
    return failure({ErrorCode::argument, 0, std::move(message)});
}

std::string_view without_blanks(std::string_view text) noexcept { return trimmed(text, " \t\r\n"); }

// Removes a trailing "s" from options that are numbers of seconds: "300s".
std::string_view in_seconds(const OptionSpec& spec, std::string_view value) {
    constexpr std::array<std::string_view, 4> seconds{"deadlineForStonewalling", "interTestDelay",
                                                      "minTimeDuration", "outlierThreshold"};
    if (value.ends_with('s') &&
        std::find(seconds.begin(), seconds.end(), spec.name) != seconds.end()) {
        value.remove_suffix(1);
    }
    return value;
}

// Parses "2GB/s" as a rate, and "100m" as a size.
Result<std::int64_t> rate(std::string_view value) {
    return value.ends_with("/s") ? parse_rate(value).map([](double bytes) {
        return static_cast<std::int64_t>(std::min(bytes, 9e18));
    })
                                 : measure::parse_size(value);
}

// The numeric value of an option that is not a text.
Result<std::int64_t> number_of(const OptionSpec& spec, std::string_view value) {
    if (spec.kind == OptionKind::flag) {
        if (const auto on = parse_switch(value)) {
            return *on ? 1 : 0;
        }
    }
    return spec.kind == OptionKind::rate ? rate(value)
                                         : measure::parse_size(in_seconds(spec, value));
}

Result<void> set_value(const OptionSpec& spec, const std::string& shown, std::string_view value,
                       ParsedOptions& parsed) {
    const auto no_good = [&](const Error& why) {
        return usage(fmt::format("{} has no good value: {}", shown, why.message));
    };
    if (spec.kind == OptionKind::text) {
        std::get<Text>(spec.place)(parsed.options) = std::string(value);
        return {};
    }
    if (spec.kind == OptionKind::limit) {
        const auto done = command_line::put_limit(std::get<Limit>(spec.place), std::string(value),
                                                  parsed.options.own.limits);
        return done ? done : no_good(done.error());
    }
    const auto number = number_of(spec, value);
    if (!number) {
        return no_good(number.error());
    }
    if (spec.kind == OptionKind::flag) {
        std::get<Flag>(spec.place)(parsed.options) = *number != 0;
    } else {
        std::get<Number>(spec.place)(parsed.options) = *number;
    }
    return {};
}

void switch_on(const OptionSpec& spec, ParsedOptions& parsed) {
    if (spec.kind == OptionKind::flag) {
        std::get<Flag>(spec.place)(parsed.options) = true;
    } else {
        ++std::get<Number>(spec.place)(parsed.options);
    }
}

void advise(const OptionSpec& spec, const std::string& shown, ParsedOptions& parsed) {
    if (spec.advice.empty()) {
        return;
    }
    const bool respelt = spec.advice.starts_with("write ");
    const std::string line =
        respelt ? fmt::format("{} is an old spelling. {}{}.", shown, "W", spec.advice.substr(1))
                : fmt::format("{} is ignored ({}).", shown, spec.advice);
    if (std::find(parsed.advice.begin(), parsed.advice.end(), line) == parsed.advice.end()) {
        parsed.advice.push_back(line);
    }
}

bool wants_value(const OptionSpec& spec) noexcept {
    return spec.kind != OptionKind::flag && spec.kind != OptionKind::count;
}

Result<void> directives(std::string_view list, ParsedOptions& parsed) {
    for (const std::string& one : command_line::split(list, ',')) {
        if (const std::string_view text = without_blanks(one); !text.empty()) {
            if (auto done = apply_directive(text, parsed); !done) {
                return done;
            }
        }
    }
    return {};
}

// Converts specs() to the common parser's table, and appends -O.
std::vector<command_line::CommandOption> own_options() {
    std::vector<command_line::CommandOption> options;
    for (const OptionSpec& spec : specs()) {
        command_line::CommandOption& option = options.emplace_back();
        option.letter = spec.letter;
        option.name = spec.name;
        option.takes = wants_value(spec) ? command_line::OptionArgument::value
                                         : command_line::OptionArgument::nothing;
    }
    command_line::CommandOption& directives = options.emplace_back();
    directives.letter = 'O';
    directives.takes = command_line::OptionArgument::value;
    return options;
}

Result<void> take(const command_line::GivenOption& given, const std::string& shown,
                  ParsedOptions& parsed) {
    if (given.option == specs().size()) {
        return directives(given.value, parsed);
    }
    const OptionSpec& spec = specs()[given.option];
    advise(spec, shown, parsed);
    if (given.value.empty() && !wants_value(spec)) {
        switch_on(spec, parsed);
        return {};
    }
    return set_value(spec, shown, given.value, parsed);
}

Result<void> take_all(std::span<const std::string> words, ParsedOptions& parsed) {
    const std::vector<command_line::CommandOption> known = own_options();
    const auto given = command_line::parse(
        known, command_line::without_modules(words, foreign_modules(), "its back end is not built",
                                             parsed.advice));
    if (!given) {
        return failure(given.error());
    }
    for (const command_line::GivenOption& one : *given) {
        if (auto done = take(one, command_line::shown(known[one.option]), parsed); !done) {
            return done;
        }
    }
    return {};
}

}  // namespace

Result<ParsedOptions> parse_words(std::span<const std::string> words) {
    ParsedOptions parsed;
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (auto done = take_all({words.begin(), dashes}, parsed); !done) {
        return failure(done.error());
    }
    ParsedOptions more = parsed;
    if (dashes != words.end() && dashes + 1 != words.end()) {
        if (take_all({dashes + 1, words.end()}, more)) {
            return more;
        }
        parsed.advice.emplace_back(
            "what follows -- is ignored (options of back ends have names now). Write them as "
            "--dummy.delay-xfer=1000.");
    }
    return parsed;
}

Result<void> apply_directive(std::string_view directive, ParsedOptions& parsed) {
    const std::size_t equals = directive.find('=');
    std::string_view name = without_blanks(directive.substr(0, equals));
    while (name.starts_with('-')) {
        name.remove_prefix(1);
    }
    const OptionSpec* spec = find_name(name);
    if (spec == nullptr && command_line::is_of_a_module(name, foreign_modules())) {
        parsed.advice.push_back(fmt::format("{} is ignored (its back end is not built).", name));
        return {};
    }
    if (spec == nullptr) {
        return usage(
            fmt::format("there is no directive \"{}\". See -h for those that there are.", name));
    }
    advise(*spec, std::string(name), parsed);
    if (equals == std::string_view::npos) {
        if (wants_value(*spec)) {
            return usage(fmt::format("directive {0} has no value. Write {0}=VALUE.", name));
        }
        switch_on(*spec, parsed);
        return {};
    }
    return set_value(*spec, std::string(name), without_blanks(directive.substr(equals + 1)),
                     parsed);
}

}  // namespace forebay::ior
