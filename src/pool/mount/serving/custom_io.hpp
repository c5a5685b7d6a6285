// Filters between libfuse and the kernel: sets flags in the answer to INIT that this libfuse has no
// names for, and turns TMPFILE requests into CREATE, which libfuse knows.
#pragma once

#include "pool/mount/serving/fuse.hpp"

#include <cstdint>
#include <sys/uio.h>

namespace forebay::mount {

struct CustomIo {
    std::uint64_t init = 0;     // `unique` of the INIT request
    std::uint64_t offered = 0;  // flags that the kernel offered in it

    [[nodiscard]] bool maps_direct_files() const noexcept {
        return (offered & InitFlag::direct_io_allow_mmap) != 0;
    }
    ssize_t read(int fd, void* to, std::size_t bytes) noexcept;
    ssize_t write(int fd, iovec* pieces, int count) noexcept;
};

}  // namespace forebay::mount
