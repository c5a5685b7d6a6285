// Sparse memory, as the daemon maps it, for tests and fuzzers.
#pragma once

#include "foundation/base/contracts.hpp"

#include <cstddef>
#include <sys/mman.h>

namespace forebay::pool {

// An anonymous mapping: it costs nothing until it is touched.
class Sparse {
public:
    explicit Sparse(std::size_t bytes)
        : bytes_{bytes},
          begin_{::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
        invariant(begin_ != MAP_FAILED, "there are addresses");
    }
    Sparse(const Sparse&) = delete;
    Sparse& operator=(const Sparse&) = delete;
    ~Sparse() { ::munmap(begin_, bytes_); }
    [[nodiscard]] std::byte* begin() const noexcept { return static_cast<std::byte*>(begin_); }

private:
    std::size_t bytes_;
    void* begin_;
};

}  // namespace forebay::pool
