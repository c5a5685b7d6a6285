// Whether somebody is looking.
#pragma once

namespace forebay::bench {

// Whether this process's standard error reaches a terminal: it is one, or it is a pipe of this
// node's launcher whose own standard error is one.
[[nodiscard]] bool speaks_to_terminal();

}  // namespace forebay::bench
