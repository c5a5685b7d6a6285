// Between libfuse and the kernel: says in the answer to INIT what this libfuse has no names for,
// and lets it take a request for a file without a name for one that creates a file.
#pragma once

#include "pool/mount/serving/fuse.hpp"

#include <atomic>
#include <cstdint>
#include <sys/uio.h>

namespace forebay::mount {

struct CustomIo {
    std::uint64_t init = 0;     // number of the INIT request
    std::uint64_t offered = 0;  // by the kernel, in it
    std::atomic<std::uint64_t> served = 0;

    [[nodiscard]] bool maps_direct_files() const noexcept {
        return (offered & InitFlag::direct_io_allow_mmap) != 0;
    }
    ssize_t read(int fd, void* to, std::size_t bytes) noexcept;
    ssize_t write(int fd, iovec* pieces, int count) noexcept;
};

}  // namespace forebay::mount
