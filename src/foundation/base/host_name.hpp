// The name of this node.
#pragma once

#include <string>

namespace forebay {

// gethostname(); empty where it fails.
[[nodiscard]] std::string host_name();

}  // namespace forebay
