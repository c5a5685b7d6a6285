// Splits and parses words of the form KEY=VALUE.
#include "worlds/simulate/key_value_options.hpp"

#include "simulate/platform_keys.hpp"

#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace forebay::sim {

tl::unexpected<Error> refuse(const std::string& word, const std::string& why) {
    return failure(
        {ErrorCode::argument, 0,
         fmt::format("cannot use \"{}\" ({}). See forebay simulate --help.", word, why)});
}

Result<double> number(const std::string& text, const std::string& unit) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size()) {
        return value;
    }
    if (unit.empty()) {
        return failure({ErrorCode::argument, 0, "it is no number"});
    }
    return adapters::parse_quantity(text, unit);
}

std::vector<OptionName> platform_words() {
    std::vector<OptionName> words;
    words.reserve(std::size(platform_keys));
    for (const PlatformKey& key : platform_keys) {
        words.push_back({key.name, key.meaning});
    }
    return words;
}

std::optional<Result<void>> put_platform(const std::string& name, const std::string& text,
                                         adapters::MachinePlatform& platform) {
    const auto* key = std::ranges::find(platform_keys, name, &PlatformKey::name);
    if (key == std::end(platform_keys)) {
        return std::nullopt;
    }
    return number(text, adapters::unit_of(key->number)).and_then([&](double value) {
        return adapters::set_number(platform, key->number, value);
    });
}

Result<OptionWord> split(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        return refuse(word, "it is not key=value");
    }
    return OptionWord{word.substr(0, equals), word.substr(equals + 1)};
}

Result<adapters::MachinePlatform> first_word(const std::vector<std::string>& words) {
    constexpr std::string_view first = "platform=";
    if (words.empty() || !words.front().starts_with(first)) {
        return refuse(words.empty() ? "" : words.front(), "the first word names the platform");
    }
    return adapters::read_platform(words.front().substr(first.size()));
}

std::string listed(const std::vector<OptionName>& words) {
    std::string text;
    for (const OptionName& word : words) {
        text += fmt::format("  {:<25}{}\n", word.name, word.meaning);
    }
    return text;
}

}  // namespace forebay::sim
