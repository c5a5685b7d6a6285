// One field of a CSV file (RFC 4180), quoted if necessary.
#pragma once

#include <string>
#include <string_view>

namespace forebay::measure {

[[nodiscard]] inline std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

}  // namespace forebay::measure
