// Maps with MAP_NORESERVE: staging memory is mapped at its maximal size and used as needed.
#include "storage/posix/mapping.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace forebay::adapters {

MemoryMapping::MemoryMapping(MemoryMapping&& other) noexcept
    : bytes_{std::exchange(other.bytes_, {})} {}

MemoryMapping& MemoryMapping::operator=(MemoryMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

MemoryMapping::~MemoryMapping() {
    if (!bytes_.empty()) {
        kernel::munmap(bytes_.data(), bytes_.size());
    }
}

void MemoryMapping::give_back(std::size_t from) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t begin = (from + page - 1) / page * page;
    if (begin < bytes_.size()) {
        kernel::madvise(bytes_.data() + begin, bytes_.size() - begin, MADV_REMOVE);
    }
}

Result<MemoryMapping> MemoryMapping::map(int fd, int flags, std::size_t bytes) {
    void* at = kernel::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            flags | MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        const int system = errno;
        return failure(Error{ErrorCode::input_output, system,
                             fmt::format("cannot map {} bytes of memory (errno {}). Lower "
                                         "staging_bytes_max or raise the limit on address space.",
                                         bytes, system)});
    }
    return MemoryMapping{{static_cast<std::byte*>(at), bytes}};
}

Result<MemoryMapping> MemoryMapping::anonymous(std::size_t bytes) {
    return map(-1, MAP_ANONYMOUS, bytes);
}

Result<MemoryMapping> MemoryMapping::of_file(int fd, std::size_t bytes) {
    return map(fd, 0, bytes);
}

}  // namespace forebay::adapters
