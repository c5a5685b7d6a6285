// Whether a user sees standard error.
#pragma once

namespace forebay::bench {

// Whether this process's standard error reaches a terminal: directly, or by a pipe to this node's
// launcher, whose own standard error is a terminal.
[[nodiscard]] bool speaks_to_terminal();

}  // namespace forebay::bench
