// The offsets of some fields of pool::Directory, as JSON. `forebay run`, which is not built from
// these sources, reads the directory of a daemon that has died by them.
#pragma once

#include <string>

namespace forebay::daemon {

[[nodiscard]] std::string directory_shape();

}  // namespace forebay::daemon
