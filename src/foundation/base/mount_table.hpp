// The text of /proc/PID/mountinfo (proc(5)).
#pragma once

#include <string>
#include <string_view>

namespace forebay {

// A field of a line as it is meant: mountinfo writes blanks, tabs, line feeds and backslashes as a
// backslash and three octal digits. Anything else stays as it is.
[[nodiscard]] std::string unescaped_mount_field(std::string_view text);

}  // namespace forebay
