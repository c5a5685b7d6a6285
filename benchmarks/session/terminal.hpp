// Whether somebody is looking.
#pragma once

namespace forebay::bench {

// What this process says on standard error comes to a terminal: it is one, or a pipe of the
// launcher of this node, whose own is one.
[[nodiscard]] bool speaks_to_terminal();

}  // namespace forebay::bench
