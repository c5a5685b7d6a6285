// See options.hpp.
#include "bench/command_line/options.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace forebay::command_line {

namespace {

using Table = std::span<const Option>;

std::optional<std::size_t> by_name(Table table, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [name](const Option& one) {
        return !one.name.empty() && one.name == name;
    });
    if (found == table.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - table.begin());
}

std::optional<std::size_t> by_letter(Table table, char letter) {
    const auto found = std::find_if(table.begin(), table.end(), [letter](const Option& one) {
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

// Goes through the words; each step takes one option with its value.
class Reader {
public:
    Reader(Table table, std::span<const std::string> words) : table_(table), words_(words) {}

    Result<Parsed> read() {
        while (at_ < words_.size()) {
            const std::string_view word = words_[at_++];
            if (word == "--") {
                parsed_.rest.insert(parsed_.rest.end(),
                                    words_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    words_.end());
                break;
            }
            if (word.size() < 2 || word.front() != '-') {
                parsed_.rest.emplace_back(word);
                continue;
            }
            auto fine =
                word.starts_with("--") ? long_option(word, word.substr(2)) : short_one(word);
            if (!fine) {
                return failure(fine.error());
            }
        }
        return std::move(parsed_);
    }

private:
    Result<void> long_option(std::string_view word, std::string_view text) {
        const std::size_t equals = text.find('=');
        const auto option = by_name(table_, text.substr(0, equals));
        if (!option) {
            return unknown(word);
        }
        if (equals != std::string_view::npos) {
            parsed_.given.push_back({*option, std::string(text.substr(equals + 1))});
            return {};
        }
        return with_next_word(word, *option);
    }

    Result<void> with_next_word(std::string_view word, std::size_t option) {
        const bool flag = table_[option].takes == Takes::nothing ||
                          (table_[option].takes == Takes::number_if_there && !number_next());
        if (flag) {
            parsed_.given.push_back({option, ""});
            return {};
        }
        if (at_ == words_.size()) {
            return wrong(fmt::format("{} lacks its value (the line ends there). Give one.", word));
        }
        parsed_.given.push_back({option, words_[at_++]});
        return {};
    }

    Result<void> short_one(std::string_view word) {
        for (std::size_t place = 1; place < word.size(); ++place) {
            const auto option = by_letter(table_, word[place]);
            if (!option) {
                return unknown(word);
            }
            const std::string_view rest = word.substr(place + 1);
            const bool equals = rest.starts_with('=');
            const Takes takes = table_[*option].takes;
            const bool flag = takes == Takes::nothing ||
                              (takes == Takes::number_if_there && !rest.empty() && !number(rest));
            if (flag && !equals) {
                parsed_.given.push_back({*option, ""});
                continue;
            }
            if (rest.empty()) {
                return with_next_word(word, *option);
            }
            parsed_.given.push_back({*option, std::string(equals ? rest.substr(1) : rest)});
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
    Parsed parsed_;
};

}  // namespace

Result<Parsed> parse(Table table, std::span<const std::string> words) {
    return Reader(table, words).read();
}

std::string help(Table table) {
    std::string text;
    for (const Option& one : table) {
        if (one.meaning.empty()) {
            continue;
        }
        const std::string letter = one.letter != 0 ? fmt::format("-{}", one.letter) : "  ";
        const std::string name = one.name.empty() ? "" : fmt::format("--{}", one.name);
        const std::string value = one.takes == Takes::value             ? " VALUE"
                                  : one.takes == Takes::number_if_there ? " [N]"
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
    if (text.empty() || text == "1") {
        return true;
    }
    if (text == "0") {
        return false;
    }
    return wrong(
        fmt::format("{} cannot be \"{}\" (it is on or off). Give 1, 0 or nothing.", option, text));
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
