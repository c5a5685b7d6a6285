// The real time.
#pragma once

#include "ports/clock.hpp"

namespace forebay::adapters {

class SteadyClock final : public ports::Clock {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
};

}  // namespace forebay::adapters
