// The user's settings, as values. schema/settings.toml is the table of all settings; values come
// from defaults, a TOML file, the environment and MPI_Info, and later sources override earlier
// ones. Nothing here calls MPI: hints arrive as names and texts.
#pragma once

#include "foundation/base/result.hpp"
#include "settings/settings_table.hpp"
#include "storage/policy/tuning.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

class UserSettings {
public:
    UserSettings();  // the defaults

    // Parses and stores `text`; on an error (ErrorCode::argument) the old value stays.
    Result<void> set(Setting setting, std::string_view text);

    // The numeric values that rank 0 broadcasts; the other ranks take them without checks. Strings
    // and lists are not part of it: every rank keeps those that it has read.
    using Numbers = std::array<std::int64_t, setting_count>;
    [[nodiscard]] Numbers numbers() const noexcept;
    void take_numbers(const Numbers& numbers);

    // For an enum: index of the choice.
    [[nodiscard]] std::int64_t number(Setting setting) const noexcept;
    [[nodiscard]] bool flag(Setting setting) const noexcept { return number(setting) != 0; }
    [[nodiscard]] const std::string& text(Setting setting) const noexcept;  // canonical spelling
    [[nodiscard]] std::vector<std::string> list(Setting setting) const;

    [[nodiscard]] plan::Tuning tuning() const noexcept;

private:
    void set_number(Setting setting, std::int64_t number);

    struct Value {
        std::int64_t number = 0;
        std::string text;
    };
    std::array<Value, setting_count> values_;
};

// The setting with this name, or the one that this MPI_Info key sets.
[[nodiscard]] std::optional<Setting> find_setting(std::string_view name) noexcept;
// The name of the setting with the smallest edit distance to `name`.
[[nodiscard]] const char* nearest_setting(std::string_view name);

// Whether the site has locked the setting: `forebay run` lists those in FOREBAY_LOCKED, with
// commas, and gives their values in the environment. A program's hints leave them alone.
[[nodiscard]] bool is_locked(Setting setting);

// Reads the TOML file `path` into `settings`; an error's message has the file and the line.
Result<void> read_settings_file(const std::string& path, UserSettings& settings);
// Reads FOREBAY_<NAME> from the environment, or FOREBAY_<HINT> if that is not set.
Result<void> read_settings_environment(UserSettings& settings);
// Defaults, then the file named by FOREBAY_SETTINGS, then the environment, in which `forebay run`
// puts the site's values.
Result<UserSettings> read_settings();

}  // namespace forebay
