// Reads a settings file (TOML). Errors name the file, the line and the nearest valid key.
#include "settings/settings.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/own_files.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <toml++/toml.h>

namespace forebay {

namespace {

tl::unexpected<Error> refuse(const std::string& path, const toml::source_region& where,
                             std::string_view why, std::string_view next) {
    return failure({ErrorCode::argument, 0,
                    fmt::format("cannot use the settings of {}:{} ({}). {}", path, where.begin.line,
                                why, next)});
}

// A TOML value as the text that UserSettings::set() parses; nullopt if the type has no such text.
std::optional<std::string> text_of(const toml::node& node) {
    if (const auto flag = node.value_exact<bool>()) {
        return *flag ? "true" : "false";
    }
    if (const auto number = node.value_exact<std::int64_t>()) {
        return std::to_string(*number);
    }
    if (auto text = node.value_exact<std::string>()) {
        return text;
    }
    const toml::array* items = node.as_array();
    if (items == nullptr) {
        return std::nullopt;
    }
    std::string joined;
    for (const toml::node& item : *items) {
        const auto text = item.value_exact<std::string>();
        if (!text) {
            return std::nullopt;
        }
        joined += (joined.empty() ? "" : ",") + *text;
    }
    return joined;
}

// The line that sets each setting; 0 if none does.
using Lines = std::array<toml::source_index, setting_count>;

Result<void> take(const std::string& path, const toml::key& key, const toml::node& node,
                  Lines& lines, UserSettings& settings) {
    const auto setting = find_setting(key.str());
    if (!setting) {
        return refuse(path, key.source(), fmt::format("no setting is called \"{}\"", key.str()),
                      fmt::format("Did you mean \"{}\"?", nearest_setting(key.str())));
    }
    toml::source_index& line = lines[static_cast<std::size_t>(*setting)];
    if (line != 0) {
        return refuse(
            path, key.source(),
            fmt::format("\"{}\" is set by line {}, too, by another name", key.str(), line),
            "Leave one of them out.");
    }
    line = key.source().begin.line;
    const auto text = text_of(node);
    if (!text) {
        return refuse(
            path, node.source(),
            fmt::format("the value of \"{}\" is of no type that a setting has", key.str()),
            "Give a boolean, a whole number, a string or a list of strings.");
    }
    if (const auto done = settings.set(*setting, *text); !done) {
        return failure(
            {ErrorCode::argument, 0,
             fmt::format("{}:{}: {}", path, node.source().begin.line, done.error().message)});
    }
    return {};
}

}  // namespace

Result<void> read_settings_file(const std::string& path, UserSettings& settings) {
    const OwnFd file{kernel::open_to_apply(path)};
    if (!file.valid() && errno == EPERM) {
        return failure({ErrorCode::access, EPERM,
                        fmt::format("cannot trust the settings file {} (others may have written "
                                    "it). Copy it to a folder of your own, and see that not "
                                    "everybody may write to it.",
                                    path)});
    }
    const auto text =
        file.valid() ? kernel::contents(fmt::format("/proc/self/fd/{}", file.get())) : std::nullopt;
    if (!text) {
        return failure({ErrorCode::argument, errno,
                        fmt::format("cannot read the settings file {} ({}). Correct the name, or "
                                    "unset FOREBAY_SETTINGS.",
                                    path, std::generic_category().message(errno))});
    }
    const toml::parse_result parsed = toml::parse(*text, path);
    if (!parsed) {
        return refuse(path, parsed.error().source(), parsed.error().description(),
                      "Correct the file, or unset FOREBAY_SETTINGS.");
    }
    Lines lines{};
    for (const auto& [key, node] : parsed.table()) {
        if (key == "schema") {
            continue;
        }
        if (const auto done = take(path, key, node, lines, settings); !done) {
            return done;
        }
    }
    return {};
}

}  // namespace forebay
