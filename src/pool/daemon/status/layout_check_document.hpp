// Where things lie in the directory, as JSON: for who looks into it and was not built from these
// sources (`forebay run`, when the daemon has died).
#pragma once

#include <string>

namespace forebay::daemon {

[[nodiscard]] std::string directory_shape();

}  // namespace forebay::daemon
