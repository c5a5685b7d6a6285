// See parse.hpp.
#include "bench/ior/parse.hpp"

#include "base/byte_units.hpp"
#include "bench/ior/option_table.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace forebay::ior {

namespace {

tl::unexpected<Error> usage(std::string message) {
    return failure({ErrorCode::argument, 0, std::move(message)});
}

std::string_view trimmed(std::string_view text) noexcept {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

// "300s": a number of seconds may say so.
std::string_view in_seconds(const Spec& spec, std::string_view value) {
    constexpr std::array<std::string_view, 4> seconds{"deadlineForStonewalling", "interTestDelay",
                                                      "minTimeDuration", "outlierThreshold"};
    if (value.ends_with('s') &&
        std::find(seconds.begin(), seconds.end(), spec.name) != seconds.end()) {
        value.remove_suffix(1);
    }
    return value;
}

Result<void> set_value(const Spec& spec, const std::string& shown, std::string_view value,
                       Parsed& parsed) {
    if (spec.kind == Kind::text) {
        std::get<Text>(spec.place)(parsed.options) = std::string(value);
        return {};
    }
    const auto number = parse_size(in_seconds(spec, value));
    if (!number) {
        return usage(fmt::format("{} has no good value: {}", shown, number.error().message));
    }
    if (spec.kind == Kind::flag) {
        std::get<Flag>(spec.place)(parsed.options) = *number != 0;
    } else {
        std::get<Number>(spec.place)(parsed.options) = *number;
    }
    return {};
}

void switch_on(const Spec& spec, Parsed& parsed) {
    if (spec.kind == Kind::flag) {
        std::get<Flag>(spec.place)(parsed.options) = true;
    } else {
        ++std::get<Number>(spec.place)(parsed.options);
    }
}

void advise(const Spec& spec, const std::string& shown, Parsed& parsed) {
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

bool wants_value(const Spec& spec) noexcept {
    return spec.kind != Kind::flag && spec.kind != Kind::count;
}

// Walks over the words; each function takes what belongs to its option.
class Walk {
public:
    explicit Walk(std::span<const std::string> words) : words_(words) {}

    Result<Parsed> run() {
        while (at_ < words_.size()) {
            const std::string& word = words_[at_++];
            if (word == "--") {
                parsed_.advice.push_back(
                    "what follows -- is ignored (options of back ends have names now). Write them "
                    "as --dummy.delay-xfer=1000.");
                break;
            }
            Result<void> done = word.starts_with("--") && word.size() > 2 ? long_option(word)
                                : word.starts_with("-") && word.size() > 1
                                    ? letters(word)
                                    : usage(fmt::format("what is \"{}\" for (no option takes it)? "
                                                        "Take it out, or see -h.",
                                                        word));
            if (!done) {
                return tl::unexpected<Error>(done.error());
            }
        }
        return std::move(parsed_);
    }

private:
    Result<std::string> next(const std::string& shown) {
        if (at_ >= words_.size()) {
            return usage(
                fmt::format("{} has no value (it is the last word). Add one, or see -h.", shown));
        }
        return words_[at_++];
    }

    Result<void> directives(std::string_view list) {
        for (std::size_t begin = 0; begin <= list.size();) {
            const std::size_t comma = std::min(list.find(',', begin), list.size());
            const std::string_view one = trimmed(list.substr(begin, comma - begin));
            if (!one.empty()) {
                if (auto done = apply_directive(one, parsed_); !done) {
                    return done;
                }
            }
            begin = comma + 1;
        }
        return {};
    }

    // "-wr", "-vvv", "-t4k", "-t=4k", "-t" "4k", "-F=0", "-wt4k"
    Result<void> letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const char letter = word[i];
            const std::string shown = {'-', letter};
            const Spec* spec = find_letter(letter);
            const bool attached = i + 1 < word.size();
            const std::string_view rest = std::string_view(word).substr(i + 1);
            if (letter != 'O' && spec == nullptr) {
                return usage(
                    fmt::format("there is no option -{} (in \"{}\"). See -h for those "
                                "that there are.",
                                letter, word));
            }
            if (letter == 'O' || wants_value(*spec)) {
                const auto value = attached ? Result<std::string>(std::string(
                                                  rest.starts_with('=') ? rest.substr(1) : rest))
                                            : next(shown);
                if (!value) {
                    return tl::unexpected<Error>(value.error());
                }
                if (letter == 'O') {
                    return directives(*value);
                }
                advise(*spec, shown, parsed_);
                return set_value(*spec, shown, *value, parsed_);
            }
            advise(*spec, shown, parsed_);
            if (rest.starts_with('=')) {
                return set_value(*spec, shown, rest.substr(1), parsed_);
            }
            switch_on(*spec, parsed_);
        }
        return {};
    }

    Result<void> long_option(const std::string& word) {
        const std::size_t equals = word.find('=');
        const std::string shown = word.substr(0, equals);
        const std::string_view name = std::string_view(shown).substr(2);
        const Spec* spec = find_name(name);
        if (spec == nullptr) {
            return foreign(shown, name, equals != std::string::npos);
        }
        advise(*spec, shown, parsed_);
        if (equals != std::string::npos) {
            return set_value(*spec, shown, std::string_view(word).substr(equals + 1), parsed_);
        }
        if (!wants_value(*spec)) {
            switch_on(*spec, parsed_);
            return {};
        }
        const auto value = next(shown);
        if (!value) {
            return tl::unexpected<Error>(value.error());
        }
        return set_value(*spec, shown, *value, parsed_);
    }

    Result<void> foreign(const std::string& shown, std::string_view name, bool has_value) {
        if (!is_foreign_module(name.substr(0, name.find('.'))) ||
            name.find('.') == std::string_view::npos) {
            return usage(
                fmt::format("there is no option {}. See -h for those that there are.", shown));
        }
        parsed_.advice.push_back(fmt::format("{} is ignored (its back end is not built).", shown));
        if (!has_value && at_ < words_.size() && !words_[at_].starts_with("-")) {
            ++at_;
        }
        return {};
    }

    std::span<const std::string> words_;
    std::size_t at_ = 0;
    Parsed parsed_;
};

}  // namespace

Result<Parsed> parse_words(std::span<const std::string> words) { return Walk(words).run(); }

Result<void> apply_directive(std::string_view directive, Parsed& parsed) {
    const std::size_t equals = directive.find('=');
    std::string_view name = trimmed(directive.substr(0, equals));
    while (name.starts_with('-')) {
        name.remove_prefix(1);
    }
    const Spec* spec = find_name(name);
    if (spec == nullptr && is_foreign_module(name.substr(0, name.find('.')))) {
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
    return set_value(*spec, std::string(name), trimmed(directive.substr(equals + 1)), parsed);
}

}  // namespace forebay::ior
