// Command lines as users of IOR, mdtest and HPIO write them: -x VALUE, -xVALUE, -x=VALUE, grouped
// flags (-wr), --name=VALUE, --name VALUE, -name for names of several letters, flags with a value
// (-F=0). The value of an option is the rest of its word, so -t4k is never four flags. Options may
// follow "--", too, because no benchmark has positional arguments.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::command_line {

enum class OptionArgument {
    nothing,
    value,
    number_if_there  // an optional number: -R, -R 5 and -R5
};

struct CommandOption {
    char letter = 0;        // 0: none
    std::string_view name;  // empty: none; compared without case
    OptionArgument takes = OptionArgument::nothing;
    std::string_view meaning;  // for --help; empty: not shown
    std::string_view initial;  // default, for --help
};

struct GivenOption {
    std::size_t option = 0;  // index into the table
    std::string value;       // for a flag: empty, or the text after '='
};

// The options in their order on the command line. The error names the word and similar options.
[[nodiscard]] Result<std::vector<GivenOption>> parse(std::span<const CommandOption> table,
                                                     std::span<const std::string> words);

// "-t", or "--name" if the option has no letter.
[[nodiscard]] std::string shown(const CommandOption& option);

// Whether `word` is an option of a module: "--dfs.pool=x" or "dfs.pool", compared without case.
[[nodiscard]] bool is_of_a_module(std::string_view word, std::span<const std::string_view> modules);
// Removes the options of back ends that are not built (--dfs.pool=x, --dfs.pool x), and appends a
// line with the reason to `advice` for each.
[[nodiscard]] std::vector<std::string> without_modules(std::span<const std::string> words,
                                                       std::span<const std::string_view> modules,
                                                       std::string_view why,
                                                       std::vector<std::string>& advice);

// The lines of --help, one for each option.
[[nodiscard]] std::string help(std::span<const CommandOption> table);

// Parses a decimal integer; sizes are parsed by parse_size().
[[nodiscard]] Result<std::int64_t> whole_number(std::string_view option, std::string_view text);

// Parses a flag's value: "" is true, other words are those of foundation/base/switch_words.hpp.
[[nodiscard]] Result<bool> flag(std::string_view option, std::string_view text);

// Compared without case.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace forebay::command_line
