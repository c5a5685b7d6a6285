// Memory that the processes of one node share without a name in any file system: nothing is left
// behind however they end. The owner tells the others its process and descriptor number; they open
// it through /proc.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "storage/posix/mapping.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::adapters {

// Facts that another process of the node needs to find the memory. The secret is kept in the first
// eight bytes of the memory, so that a wrong process or descriptor is found out.
struct SharedName {
    std::uint64_t secret = 0;
    std::int32_t process = 0;
    std::int32_t descriptor = -1;
};

class SharedMemory {
public:
    // Takes address space and memory only when mapped and touched.
    [[nodiscard]] static Result<SharedMemory> create(std::size_t bytes);
    // Memory of another process, or of this one, while its SharedMemory exists.
    [[nodiscard]] static Result<MemoryMapping> attach(const SharedName& name, std::size_t bytes);

    [[nodiscard]] const SharedName& name() const noexcept { return name_; }

private:
    SharedMemory(OwnFd fd, const SharedName& name) noexcept : fd_{std::move(fd)}, name_{name} {}

    OwnFd fd_;
    SharedName name_;
};

}  // namespace forebay::adapters
