// Uses memfd_create: the memory counts as the job's shared memory, and is freed with its last user.
#include "storage/posix/shared_memory.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

tl::unexpected<Error> refused(const char* doing, int system) {
    return failure(Error{ErrorCode::input_output, system,
                         fmt::format("cannot {} memory shared by the ranks of a node ({}). Lower "
                                     "staging_bytes_max, or set enabled = false to run without "
                                     "Forebay.",
                                     doing, std::strerror(system))});
}

}  // namespace

bool within_file_limit(std::size_t bytes) noexcept {
    const rlim_t limit = kernel::limit_of(RLIMIT_FSIZE);
    return limit == RLIM_INFINITY || bytes <= limit;
}

Result<SharedMemory> SharedMemory::create(std::size_t bytes) {
    SharedName name;
    if (bytes < sizeof name.secret || !within_file_limit(bytes)) {
        return refused("make", EFBIG);
    }
    OwnFd fd{kernel::memfd_create("forebay", MFD_CLOEXEC)};
    if (!fd.valid()) {
        return refused("make", errno);
    }
    const auto secret_bytes = static_cast<ssize_t>(sizeof name.secret);
    if (::getrandom(&name.secret, sizeof name.secret, 0) != secret_bytes ||
        kernel::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
        kernel::pwrite(fd.get(), &name.secret, sizeof name.secret, 0) != secret_bytes) {
        return refused("make", errno);
    }
    name.process = ::getpid();
    name.descriptor = fd.get();
    return SharedMemory{std::move(fd), name};
}

Result<MemoryMapping> SharedMemory::attach(const SharedName& name, std::size_t bytes) {
    const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.descriptor);
    const OwnFd fd{kernel::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (!fd.valid()) {
        return refused("open", errno);
    }
    std::uint64_t secret = 0;
    const auto got = kernel::pread(fd.get(), &secret, sizeof secret, 0);
    if (got != static_cast<ssize_t>(sizeof secret) || secret != name.secret) {
        return refused("recognise", ESTALE);
    }
    return MemoryMapping::of_file(fd.get(), bytes);
}

}  // namespace forebay::adapters
