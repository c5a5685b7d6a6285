// Makes a memfd for the table, and a symbolic link to it beside the daemon's socket.
#include "pool/daemon/memory/inodes_file.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace forebay::daemon {

Result<std::unique_ptr<InodesFile>> InodesFile::make(std::string link) {
    Result<SharedSegment> segment =
        SharedSegment::make("forebay-inodes", sizeof(pool::KnownInodes), SegmentWriters::daemon);
    if (!segment) {
        return failure(std::move(segment.error()));
    }
    Result<OwnFd> read = segment->for_reading();
    if (!read) {
        return failure(std::move(read.error()));
    }
    if (!segment->provide_here(0, sizeof(pool::KnownInodes))) {
        return failure(system_error(ENOMEM, "make " + link));
    }
    const std::string where = fmt::format("/proc/{}/fd/{}", ::getpid(), read->get());
    kernel::unlink(link.c_str());
    if (::symlink(where.c_str(), link.c_str()) != 0) {
        return failure(system_error(errno, "make " + link));
    }
    std::unique_ptr<InodesFile> made{
        new InodesFile{std::move(link), std::move(*segment), std::move(*read)}};
    made->inodes().format.store(pool::format, relaxed);
    return made;
}

InodesFile::~InodesFile() { kernel::unlink(link_.c_str()); }

}  // namespace forebay::daemon
