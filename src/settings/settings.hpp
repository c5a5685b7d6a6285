// The user's settings, as values. One table (schema/settings.toml) says which settings there are;
// they come from defaults, a TOML file, the environment and MPI_Info, in this order. Nothing here
// calls MPI: hints arrive as names and texts.
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

    // Takes `text` as the setting's value, or says why not (ErrorCode::argument) and keeps the old.
    Result<void> set(Setting setting, std::string_view text);

    // All that rank 0 tells the other ranks, which take it unchecked; texts and lists stay as they
    // are there.
    using Numbers = std::array<std::int64_t, setting_count>;
    [[nodiscard]] Numbers numbers() const noexcept;
    void take_numbers(const Numbers& numbers);

    [[nodiscard]] std::int64_t number(Setting setting) const noexcept;  // enum: index of choice
    [[nodiscard]] bool flag(Setting setting) const noexcept { return number(setting) != 0; }
    [[nodiscard]] const std::string& text(Setting setting) const noexcept;  // canonical
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

// By its name, or by a key of MPI_Info that sets it.
[[nodiscard]] std::optional<Setting> find_setting(std::string_view name) noexcept;
// The setting whose name takes the fewest edits.
[[nodiscard]] const char* nearest_setting(std::string_view name);

// Adds the values of the TOML file `path`; the error's message has file and line.
Result<void> read_settings_file(const std::string& path, UserSettings& settings);
// Adds FOREBAY_<NAME> of the environment; FOREBAY_<HINT> counts where FOREBAY_<NAME> is not set.
Result<void> read_settings_environment(UserSettings& settings);
// Defaults, then the file named by FOREBAY_SETTINGS, then the environment.
Result<UserSettings> read_settings();

}  // namespace forebay
