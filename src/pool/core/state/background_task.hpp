// A file system call that another thread makes for a file, and its continuation. A file has at most
// one at a time.
#pragma once

#include <cstdint>
#include <functional>

namespace forebay::pool {

struct BackgroundTask {
    enum class Company {
        alone,  // no flush batch of the file begins meanwhile
        any,
    };
    std::uint64_t ticket = 0;
    Company company = Company::any;
    std::function<void(std::int64_t)> then;
};

}  // namespace forebay::pool
