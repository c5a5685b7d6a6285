// The options and directives as data: how each is written and which member it sets. Parsing, the
// help text and the tests read this one table, which is made from schema/ior_options.toml. To add
// an option, add a row there (and a member to IorOptions).
#pragma once

#include "benchmarks/ior/options.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace forebay::ior {

enum class OptionKind {
    flag,    // -F, -F=0, --posix.odirect, filePerProc=1
    count,   // -vvv, verbose=3
    number,  // an integer, units allowed
    size,
    text,
    rate,   // a size a second, "/s" or not
    limit,  // one of command_line::limit_options
};

using Flag = bool& (*)(IorOptions&);
using Number = std::int64_t& (*)(IorOptions&);
using Text = std::string& (*)(IorOptions&);
using Limit = std::size_t;
using Place = std::variant<Flag, Number, Text, Limit>;

struct OptionSpec {
    char letter = '\0';     // '\0': none
    std::string_view name;  // long option and directive, compared without case
    OptionKind kind = OptionKind::flag;
    Place place;
    std::string_view help;    // empty: not shown
    std::string_view advice;  // of an old spelling: what to write now; or why it has no effect
};

// The option of that name which all benchmarks have; another name does not compile.
[[nodiscard]] consteval OptionSpec limit_spec(std::string_view name) {
    std::size_t at = 0;
    while (command_line::limit_options.at(at).name != name) {
        ++at;
    }
    const command_line::CommandOption& option = command_line::limit_options.at(at);
    return {'\0', option.name, OptionKind::limit, Limit{at}, option.meaning, ""};
}

[[nodiscard]] std::span<const OptionSpec> specs() noexcept;
[[nodiscard]] const OptionSpec* find_letter(char letter) noexcept;
// `name` without dashes, in any case.
[[nodiscard]] const OptionSpec* find_name(std::string_view name) noexcept;
// Names such as "dfs" whose "--dfs.…" options belong to back ends that are not built.
[[nodiscard]] std::span<const std::string_view> foreign_modules() noexcept;

[[nodiscard]] std::string help_text();

}  // namespace forebay::ior
