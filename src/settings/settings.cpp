// Parses, checks and prints values of settings, and reads them from the environment.
#include "settings/settings.hpp"

#include "foundation/base/byte_size.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/base/letters.hpp"
#include "foundation/base/switch_words.hpp"
#include "foundation/base/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <numeric>

namespace forebay {

namespace {

const SettingRow& row_of(Setting setting) noexcept {
    return setting_rows[static_cast<std::size_t>(setting)];
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (const std::string_view part : parts_of(text, at)) {
        parts.emplace_back(trimmed(part));
    }
    return parts;
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
    const Result<std::int64_t> size = parse_size(text);
    return size ? std::optional<std::int64_t>(*size) : std::nullopt;
}

std::optional<std::int64_t> parse_choice(const SettingRow& row, std::string_view text) {
    const auto choices = split(row.choices, '|');
    const auto found = std::ranges::find(choices, lowered(text));
    if (found == choices.end()) {
        return std::nullopt;
    }
    return found - choices.begin();
}

std::optional<std::int64_t> parse_number(const SettingRow& row, std::string_view text) {
    switch (row.kind) {
        case SettingKind::bool_: return parse_switch(text);
        case SettingKind::integer: return parse_integer(text);
        case SettingKind::bytes: return parse_bytes(text);
        case SettingKind::enum_: return parse_choice(row, text);
        default: return 0;
    }
}

std::string expected_of(const SettingRow& row) {
    switch (row.kind) {
        case SettingKind::bool_: return "true or false";
        case SettingKind::enum_: {
            std::string choices = row.choices;
            std::ranges::replace(choices, '|', ',');
            return "one of " + choices;
        }
        case SettingKind::bytes:
            return fmt::format("bytes from {} to {}, such as \"4 MiB\"", row.minimum, row.maximum);
        default: return fmt::format("a whole number from {} to {}", row.minimum, row.maximum);
    }
}

std::string canonical(const SettingRow& row, std::string_view text, std::int64_t number) {
    switch (row.kind) {
        case SettingKind::bool_: return number != 0 ? "true" : "false";
        case SettingKind::integer:
        case SettingKind::bytes: return std::to_string(number);
        case SettingKind::enum_: return lowered(text);
        default: return std::string(text);
    }
}

std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
        }
    }
    return row.back();
}

plan::SwitchMode mode_of(std::int64_t choice) noexcept {
    return static_cast<plan::SwitchMode>(choice);  // the choices are in the order of SwitchMode
}

// The name of the environment variable: FOREBAY_<NAME>, in capitals.
std::string variable_of(std::string_view name) {
    std::string variable = "FOREBAY_";
    for (const char c : name) {
        variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return variable;
}

}  // namespace

UserSettings::UserSettings() {
    for (std::size_t i = 0; i < setting_count; ++i) {
        const Result<void> done = set(static_cast<Setting>(i), setting_rows[i].standard);
        invariant(done.has_value(), "defaults of settings are valid");
    }
}

Result<void> UserSettings::set(Setting setting, std::string_view text) {
    const SettingRow& row = row_of(setting);
    const std::string_view trim = trimmed(text);
    const auto number = parse_number(row, trim);
    if (!number || *number < row.minimum || *number > row.maximum) {
        return failure(
            {ErrorCode::argument, 0,
             fmt::format("cannot use {} = \"{}\" (not a value of this setting). Give {}.", row.name,
                         text, expected_of(row))});
    }
    values_[static_cast<std::size_t>(setting)] = {*number, canonical(row, trim, *number)};
    return {};
}

void UserSettings::set_number(Setting setting, std::int64_t number) {
    const SettingRow& row = row_of(setting);
    Value& value = values_[static_cast<std::size_t>(setting)];
    value.number = number;
    switch (row.kind) {
        case SettingKind::bool_: value.text = number != 0 ? "true" : "false"; break;
        case SettingKind::integer:
        case SettingKind::bytes: value.text = std::to_string(number); break;
        case SettingKind::enum_:
            value.text = split(row.choices, '|').at(static_cast<std::size_t>(number));
            break;
        default: break;  // strings and lists are not broadcast: they keep the value read here
    }
}

UserSettings::Numbers UserSettings::numbers() const noexcept {
    Numbers numbers{};
    for (std::size_t i = 0; i < setting_count; ++i) {
        numbers[i] = values_[i].number;
    }
    return numbers;
}

void UserSettings::take_numbers(const Numbers& numbers) {
    for (std::size_t i = 0; i < setting_count; ++i) {
        set_number(static_cast<Setting>(i), numbers[i]);
    }
}

std::int64_t UserSettings::number(Setting setting) const noexcept {
    return values_[static_cast<std::size_t>(setting)].number;
}

const std::string& UserSettings::text(Setting setting) const noexcept {
    return values_[static_cast<std::size_t>(setting)].text;
}

std::vector<std::string> UserSettings::list(Setting setting) const {
    return split(text(setting), ',');
}

plan::Tuning UserSettings::tuning() const noexcept {
    plan::Tuning tuning;
    tuning.aggregators_max = static_cast<std::int32_t>(number(Setting::cb_nodes));
    tuning.window_bytes = number(Setting::cb_buffer_size);
    tuning.buffers = static_cast<std::int32_t>(number(Setting::buffers_per_aggregator));
    tuning.staging_bytes_max = number(Setting::staging_bytes_max);
    tuning.aggregators_per_target =
        static_cast<std::int32_t>(number(Setting::aggregators_per_target));
    tuning.exchange = static_cast<plan::ExchangeOrder>(number(Setting::exchange));
    tuning.requests_in_flight = static_cast<std::int32_t>(number(Setting::requests_in_flight));
    tuning.request_bytes_max = number(Setting::request_bytes_max);
    tuning.local_write_bytes_max = number(Setting::local_write_bytes_max);
    tuning.bypass_bytes_min = number(Setting::bypass_bytes_min);
    tuning.write = mode_of(number(Setting::collective_write));
    tuning.read = mode_of(number(Setting::collective_read));
    return tuning;
}

std::optional<Setting> find_setting(std::string_view name) noexcept {
    constexpr std::string_view own = "forebay_";
    const std::string_view bare = name.substr(name.starts_with(own) ? own.size() : 0);
    for (std::size_t i = 0; i < setting_count; ++i) {
        const SettingRow& row = setting_rows[i];
        if (bare == row.name || (*row.hint != '\0' && name == row.hint)) {
            return static_cast<Setting>(i);
        }
    }
    return std::nullopt;
}

const char* nearest_setting(std::string_view name) {
    const auto distance = [&](const SettingRow& row) { return edits(name, row.name); };
    return std::ranges::min_element(setting_rows, {}, distance)->name;
}

bool is_locked(Setting setting) {
    const char* locked = std::getenv("FOREBAY_LOCKED");
    const auto names = split(locked == nullptr ? "" : locked, ',');
    return std::ranges::find(names, row_of(setting).name) != names.end();
}

Result<void> read_settings_environment(UserSettings& settings) {
    for (std::size_t i = 0; i < setting_count; ++i) {
        const SettingRow& row = setting_rows[i];
        for (const std::string_view name : {row.name, row.hint}) {
            const std::string variable = variable_of(name);
            const char* value = name.empty() ? nullptr : std::getenv(variable.c_str());
            if (value == nullptr) {
                continue;
            }
            if (const auto done = settings.set(static_cast<Setting>(i), value); !done) {
                return failure({ErrorCode::argument, 0, variable + ": " + done.error().message});
            }
            break;  // FOREBAY_<NAME> takes precedence over FOREBAY_<HINT>
        }
    }
    return {};
}

Result<UserSettings> read_settings() {
    UserSettings settings;
    const char* path = std::getenv("FOREBAY_SETTINGS");
    if (path != nullptr && *path != '\0') {
        if (const auto done = read_settings_file(path, settings); !done) {
            return failure(done.error());
        }
    }
    if (const auto done = read_settings_environment(settings); !done) {
        return failure(done.error());
    }
    return settings;
}

}  // namespace forebay
