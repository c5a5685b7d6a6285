// A short text that is kept from run to run: a file in the user's cache, or nothing but memory.
#pragma once

#include "foundation/base/result.hpp"

#include <string>

namespace forebay::ports {

class Notebook {
public:
    virtual ~Notebook() = default;
    // All of it; empty when nothing has been written yet.
    [[nodiscard]] virtual Result<std::string> read() = 0;
    // Replaces it as a whole: who reads at the same time gets the old or the new text.
    virtual Result<void> write(const std::string& text) = 0;
};

}  // namespace forebay::ports
