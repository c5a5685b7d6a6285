// Makes memfds, seals their size, and gives pages to them and takes them back.
#include "pool/daemon/memory/shared_segment.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "storage/posix/shared_memory.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::daemon {

namespace {

tl::unexpected<Error> refused(const char* name, int system) {
    return failure(system_error(system, fmt::format("make shared memory for {}", name)));
}

bool seal(int fd, SegmentWriters writers) noexcept {
    constexpr int always = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (writers == SegmentWriters::daemon &&
        ::fcntl(fd, F_ADD_SEALS, always | kernel::seal_future_write) == 0) {
        return true;
    }
    if (writers == SegmentWriters::daemon_that_releases && ::fchmod(fd, S_IRUSR) != 0) {
        return false;
    }
    // Linux before 5.1 has no F_SEAL_FUTURE_WRITE. There, as for the other kinds, clients are kept
    // from writing only by the read-only descriptor that they get.
    return ::fcntl(fd, F_ADD_SEALS, always) == 0;
}

}  // namespace

Result<SharedSegment> SharedSegment::make(const char* name, std::size_t bytes,
                                          SegmentWriters writers) {
    if (!adapters::within_file_limit(bytes)) {
        return refused(name, EFBIG);
    }
    OwnFd fd{kernel::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd.valid() || kernel::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
        return refused(name, errno);
    }
    Result<adapters::MemoryMapping> mapping = adapters::MemoryMapping::of_file(fd.get(), bytes);
    if (!mapping) {
        return refused(name, mapping.error().system);
    }
    if (!seal(fd.get(), writers)) {
        return refused(name, errno);
    }
    return SharedSegment{std::move(fd), std::move(*mapping)};
}

Result<OwnFd> SharedSegment::for_writing() const {
    expects(made(), "there is memory to pass on");
    OwnFd fd{::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0)};
    if (!fd.valid()) {
        return failure(system_error(errno, "pass on shared memory"));
    }
    return fd;
}

Result<OwnFd> SharedSegment::for_reading() const {
    expects(made(), "there is memory to pass on");
    const std::string path = kernel::name_of_descriptor(fd_.get());
    OwnFd fd{kernel::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd.valid()) {
        return failure(system_error(errno, "pass on shared memory through " + path));
    }
    return fd;
}

bool SharedSegment::provide(std::size_t begin, std::size_t bytes) noexcept {
    expects(within(begin, bytes), "memory is provided within the segment");
    int status = 0;
    do {
        status = ::fallocate(fd_.get(), 0, static_cast<off_t>(begin), static_cast<off_t>(bytes));
    } while (status != 0 && errno == EINTR);
    return status == 0;
}

bool SharedSegment::provide_here(std::size_t begin, std::size_t bytes) noexcept {
    expects(within(begin, bytes), "memory is provided within the segment");
    // Linux before 5.14 has no MADV_POPULATE_WRITE.
    return kernel::madvise(base() + begin, bytes, kernel::populate_write) == 0 ||
           (errno == EINVAL && provide(begin, bytes));
}

void SharedSegment::release(std::size_t begin, std::size_t bytes) noexcept {
    expects(within(begin, bytes), "memory is released within the segment");
    ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(bytes));
}

}  // namespace forebay::daemon
