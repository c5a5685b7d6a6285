// A call about a file that takes long, and what follows its answer. There is one at a time.
#pragma once

#include <cstdint>
#include <functional>

namespace forebay::pool {

struct BackgroundTask {
    enum class Company {
        alone,  // no flush batch is begun meanwhile
        any,
    };
    std::uint64_t ticket = 0;
    Company company = Company::any;
    std::function<void(std::int64_t)> then;
};

}  // namespace forebay::pool
