// Memory shared by the processes of a node without a name in any file system: nothing is left over,
// however they end. The owner tells the others its process ID and descriptor number, by which they
// open the memory through /proc.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "storage/posix/mapping.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::adapters {

// Whether RLIMIT_FSIZE allows a file of so many bytes. Growing one beyond it would end the process
// by SIGXFSZ.
[[nodiscard]] bool within_file_limit(std::size_t bytes) noexcept;

// The data by which another process of the node finds the memory. The secret is also in the first
// eight bytes of the memory, so that a wrong process or descriptor is detected.
struct SharedName {
    std::uint64_t secret = 0;
    std::int32_t process = 0;
    std::int32_t descriptor = -1;
};

class SharedMemory {
public:
    // Reserves neither address space nor memory until the memory is mapped and touched.
    [[nodiscard]] static Result<SharedMemory> create(std::size_t bytes);
    // Maps memory of another process, or of this one, as long as its SharedMemory exists.
    [[nodiscard]] static Result<MemoryMapping> attach(const SharedName& name, std::size_t bytes);

    [[nodiscard]] const SharedName& name() const noexcept { return name_; }

private:
    SharedMemory(OwnFd fd, const SharedName& name) noexcept : fd_{std::move(fd)}, name_{name} {}

    OwnFd fd_;
    SharedName name_;
};

}  // namespace forebay::adapters
