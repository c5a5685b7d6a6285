// Command lines as users of IOR, mdtest and HPIO write them: -x VALUE, -xVALUE, -x=VALUE, grouped
// flags (-wr), --name=VALUE, --name VALUE, -name for names of several letters, flags with a value
// (-F=0). An option that takes a value takes the rest of its word: -t4k is never four flags.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::command_line {

enum class Takes { nothing, value, number_if_there };  // -R, -R 5, -R5: where a number follows

struct Option {
    char letter = 0;        // 0: none
    std::string_view name;  // empty: none
    Takes takes = Takes::nothing;
    std::string_view meaning;  // for --help; empty: not shown
    std::string_view initial;  // its default, for --help
};

struct Given {
    std::size_t option = 0;  // index into the table
    std::string value;       // of a flag: empty, or what follows its '='
};

struct Parsed {
    std::vector<Given> given;  // in order
    std::vector<std::string> rest;
};

// The error names the word and what could be meant.
[[nodiscard]] Result<Parsed> parse(std::span<const Option> table,
                                   std::span<const std::string> words);

// One line an option, as --help shows them.
[[nodiscard]] std::string help(std::span<const Option> table);

// A whole number in decimal; sizes are parse_size's.
[[nodiscard]] Result<std::int64_t> whole_number(std::string_view option, std::string_view text);

// "" and "1" are true, "0" is false.
[[nodiscard]] Result<bool> flag(std::string_view option, std::string_view text);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace forebay::command_line
