// Port to a short text that persists between runs: a file in the user's cache directory, or memory
// only, in tests. It holds known limits (storage/policy/known_limits.hpp).
#pragma once

#include "foundation/base/result.hpp"

#include <string>

namespace forebay::ports {

class Notebook {
public:
    virtual ~Notebook() = default;
    // The whole text; empty if nothing has been written yet.
    [[nodiscard]] virtual Result<std::string> read() = 0;
    // Replaces the whole text atomically: a concurrent reader gets the old or the new one.
    virtual Result<void> write(const std::string& text) = 0;
};

}  // namespace forebay::ports
