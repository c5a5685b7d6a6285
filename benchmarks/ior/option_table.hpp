// The table of all options and directives: spelling, kind, and the member that each sets. Parser,
// help text and tests use this one table, which is generated from schema/ior_options.toml. To add
// an option, add a row there, and a member to IorOptions.
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
    number,  // an integer, with an optional unit
    size,
    text,
    rate,   // bytes per second, with or without "/s"
    limit,  // one of command_line::limit_options
};

using Flag = bool& (*)(IorOptions&);
using Number = std::int64_t& (*)(IorOptions&);
using Text = std::string& (*)(IorOptions&);
using Limit = std::size_t;
using Place = std::variant<Flag, Number, Text, Limit>;

struct OptionSpec {
    char letter = '\0';     // '\0': no letter
    std::string_view name;  // long option and directive, compared without case
    OptionKind kind = OptionKind::flag;
    Place place;
    std::string_view help;    // empty: not shown
    std::string_view advice;  // the replacement of an old spelling, or why the option has no effect
};

// The limit option of this name that all benchmarks have; an unknown name does not compile.
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
// `name` without dashes, compared without case.
[[nodiscard]] const OptionSpec* find_name(std::string_view name) noexcept;
// Names such as "dfs" whose options "--dfs.…" belong to back ends that are not built.
[[nodiscard]] std::span<const std::string_view> foreign_modules() noexcept;

[[nodiscard]] std::string help_text();

}  // namespace forebay::ior
