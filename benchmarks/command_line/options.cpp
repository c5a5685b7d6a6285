// The parser, and the help text, of a table of options.
#include "benchmarks/command_line/options.hpp"

#include "foundation/base/letters.hpp"
#include "foundation/base/switch_words.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace forebay::command_line {

namespace {

using Table = std::span<const CommandOption>;

std::optional<std::size_t> by_name(Table table, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [name](const CommandOption& one) {
        return !one.name.empty() && same_name(one.name, name);
    });
    if (found == table.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - table.begin());
}

std::optional<std::size_t> by_letter(Table table, char letter) {
    const auto found = std::find_if(table.begin(), table.end(), [letter](const CommandOption& one) {
        return one.letter != 0 && one.letter == letter;
    });
    if (found == table.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - table.begin());
}

tl::unexpected<Error> wrong(std::string message) {
    return failure({.code = ErrorCode::argument, .message = std::move(message)});
}

tl::unexpected<Error> unknown(std::string_view word) {
    return wrong(fmt::format("unknown option {} (see --help). Take it away or correct it.", word));
}

// The error for an unknown letter; in a group of flags it names the letter: "-1 in -F1".
tl::unexpected<Error> unknown_letter(char letter, std::string_view word) {
    return word.size() == 2 ? unknown(word) : unknown(fmt::format("-{} in {}", letter, word));
}

// Iterates over the words; each step takes one option with its value.
class OptionReader {
public:
    OptionReader(Table table, std::span<const std::string> words) : table_(table), words_(words) {}

    Result<std::vector<GivenOption>> read() {
        while (at_ < words_.size()) {
            const std::string_view word = words_[at_++];
            if (word == "--") {
                continue;
            }
            if (word.size() < 2 || word.front() != '-') {
                return wrong(fmt::format(
                    "\"{}\" is no option. Take it away or put its option in front.", word));
            }
            auto fine =
                word.starts_with("--") ? long_option(word, word.substr(2)) : short_one(word);
            if (!fine) {
                return failure(fine.error());
            }
        }
        return std::move(given_);
    }

private:
    Result<void> long_option(std::string_view word, std::string_view text) {
        const std::size_t equals = text.find('=');
        const auto option = by_name(table_, text.substr(0, equals));
        if (!option) {
            return unknown(word);
        }
        if (equals != std::string_view::npos) {
            given_.push_back({*option, std::string(text.substr(equals + 1))});
            return {};
        }
        return with_next_word(word, *option);
    }

    Result<void> with_next_word(std::string_view word, std::size_t option) {
        const bool flag =
            table_[option].takes == OptionArgument::nothing ||
            (table_[option].takes == OptionArgument::number_if_there && !number_next());
        if (flag) {
            given_.push_back({option, ""});
            return {};
        }
        if (at_ == words_.size()) {
            return wrong(fmt::format("{} lacks its value (the line ends there). Give one.", word));
        }
        given_.push_back({option, words_[at_++]});
        return {};
    }

    Result<void> short_one(std::string_view word) {
        for (std::size_t place = 1; place < word.size(); ++place) {
            const auto option = by_letter(table_, word[place]);
            if (!option) {
                return unknown_letter(word[place], word);
            }
            const std::string_view rest = word.substr(place + 1);
            const bool equals = rest.starts_with('=');
            const OptionArgument takes = table_[*option].takes;
            const bool flag =
                takes == OptionArgument::nothing ||
                (takes == OptionArgument::number_if_there && !rest.empty() && !number(rest));
            if (flag && !equals) {
                given_.push_back({*option, ""});
                continue;
            }
            if (rest.empty()) {
                return with_next_word(shown(table_[*option]), *option);
            }
            given_.push_back({*option, std::string(equals ? rest.substr(1) : rest)});
            return {};
        }
        return {};
    }

    static bool number(std::string_view text) {
        return !text.empty() &&
               std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
    [[nodiscard]] bool number_next() const { return at_ < words_.size() && number(words_[at_]); }

    Table table_;
    std::span<const std::string> words_;
    std::size_t at_ = 0;
    std::vector<GivenOption> given_;
};

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

Result<std::vector<GivenOption>> parse(Table table, std::span<const std::string> words) {
    return OptionReader(table, words).read();
}

std::string shown(const CommandOption& option) {
    return option.letter != 0 ? fmt::format("-{}", option.letter)
                              : fmt::format("--{}", option.name);
}

bool is_of_a_module(std::string_view word, std::span<const std::string_view> modules) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    const std::size_t dot = word.find('.');
    return dot != std::string_view::npos &&
           std::ranges::any_of(modules, [&](std::string_view module) {
               return same_name(module, word.substr(0, dot));
           });
}

std::vector<std::string> without_modules(std::span<const std::string> words,
                                         std::span<const std::string_view> modules,
                                         std::string_view why, std::vector<std::string>& advice) {
    std::vector<std::string> rest;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (!word.starts_with("--") || !is_of_a_module(word, modules)) {
            rest.push_back(word);
            continue;
        }
        advice.push_back(fmt::format("{} is ignored ({}).", word.substr(0, word.find('=')), why));
        const bool has_value = word.find('=') != std::string::npos;
        if (!has_value && at + 1 < words.size() && !words[at + 1].starts_with('-')) {
            ++at;
        }
    }
    return rest;
}

std::string help(Table table) {
    std::string text;
    for (const CommandOption& one : table) {
        if (one.meaning.empty()) {
            continue;
        }
        const std::string letter = one.letter != 0 ? fmt::format("-{}", one.letter) : "  ";
        const std::string name = one.name.empty() ? "" : fmt::format("--{}", one.name);
        const std::string value = one.takes == OptionArgument::value             ? " VALUE"
                                  : one.takes == OptionArgument::number_if_there ? " [N]"
                                                                                 : "";
        text += fmt::format("  {} {:<30} {}{}\n", letter, name + value, one.meaning,
                            one.initial.empty() ? "" : fmt::format(" [{}]", one.initial));
    }
    return text;
}

Result<std::int64_t> whole_number(std::string_view option, std::string_view text) {
    std::int64_t number = 0;
    const std::string digits(text);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc{} || stop != end || text.empty()) {
        return wrong(fmt::format("{} cannot be \"{}\" (not a whole number). Give one, as in {} 4.",
                                 option, text, option));
    }
    return number;
}

Result<bool> flag(std::string_view option, std::string_view text) {
    const auto on = text.empty() ? std::optional(true) : parse_switch(text);
    if (on) {
        return *on;
    }
    return wrong(fmt::format("{} cannot be \"{}\" (it is on or off). Give true, false or nothing.",
                             option, text));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(separator, begin);
        parts.emplace_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) {
            return parts;
        }
        begin = end + 1;
    }
}

}  // namespace forebay::command_line
