// Writing bytes to the end, by a system call that may take fewer.
#pragma once

#include "benchmarks/session/short_write.hpp"
#include "foundation/base/result.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>

namespace forebay::bench {

// Bytes, and where they go: an offset in bytes.
struct PlacedBytes {
    std::span<const std::byte> bytes;
    std::int64_t at = 0;
};

// Calls `write` with what is left until all is written; it returns as write(2) does. An error names
// the `path`.
template <class Write>
Result<void> write_all(PlacedBytes left, const std::string& path, const Write& write) {
    while (!left.bytes.empty()) {
        const ssize_t moved = write(left);
        if (moved < 0 && errno != EINTR) {
            return failure(system_error(errno, "write " + path));
        }
        if (moved == 0) {
            return failure(short_write(path, left.at, 0, left.bytes.size()));
        }
        const std::int64_t done = std::max<ssize_t>(moved, 0);
        left.at += done;
        left.bytes = left.bytes.subspan(static_cast<std::size_t>(done));
    }
    return {};
}

}  // namespace forebay::bench
