// Command lines as users of IOR, mdtest and HPIO write them: -x VALUE, -xVALUE, -x=VALUE, grouped
// flags (-wr), --name=VALUE, --name VALUE, -name for names of several letters, flags with a value
// (-F=0). An option that takes a value takes the rest of its word: -t4k is never four flags. A flag
// may stand anywhere, behind "--", too: no benchmark takes words that are no options.
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
    number_if_there
};  // -R, -R 5, -R5: where a number follows

struct CommandOption {
    char letter = 0;        // 0: none
    std::string_view name;  // empty: none; in any case of letters
    OptionArgument takes = OptionArgument::nothing;
    std::string_view meaning;  // for --help; empty: not shown
    std::string_view initial;  // its default, for --help
};

struct GivenOption {
    std::size_t option = 0;  // index into the table
    std::string value;       // of a flag: empty, or what follows its '='
};

// In order. The error names the word and what could be meant.
[[nodiscard]] Result<std::vector<GivenOption>> parse(std::span<const CommandOption> table,
                                                     std::span<const std::string> words);

// "-t", or "--name" where there is no letter.
[[nodiscard]] std::string shown(const CommandOption& option);

// "dfs" of "--dfs.pool=x" and "dfs.pool" where it is one of `modules`, in any case.
[[nodiscard]] bool is_of_a_module(std::string_view word, std::span<const std::string_view> modules);
// The words without the options of back ends that are not here (--dfs.pool=x, --dfs.pool x), and
// in `advice` a line for each with the reason.
[[nodiscard]] std::vector<std::string> without_modules(std::span<const std::string> words,
                                                       std::span<const std::string_view> modules,
                                                       std::string_view why,
                                                       std::vector<std::string>& advice);

// One line an option, as --help shows them.
[[nodiscard]] std::string help(std::span<const CommandOption> table);

// A whole number in decimal; sizes are parse_size's.
[[nodiscard]] Result<std::int64_t> whole_number(std::string_view option, std::string_view text);

// "" is true; the words are those of foundation/base/switch_words.hpp.
[[nodiscard]] Result<bool> flag(std::string_view option, std::string_view text);

[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;  // in any case

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace forebay::command_line
