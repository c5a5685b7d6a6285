// Memory that the daemon makes and clients map: a memfd that nobody can make shorter or longer
// under a reader. Pages take memory only when they are provided, or touched.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "storage/posix/mapping.hpp"

#include <cstddef>
#include <utility>

namespace forebay::daemon {

enum class SegmentWriters {
    daemon,  // whoever else maps it can only read it, however the descriptor is opened
    // The same by the descriptor that is passed on, which the file's mode keeps from being opened
    // for writing. The kernel takes back no part of what the first kind seals.
    daemon_that_releases,
    daemon_and_client,
};

class SharedSegment {
public:
    SharedSegment() noexcept = default;

    [[nodiscard]] static Result<SharedSegment> make(const char* name, std::size_t bytes,
                                                    SegmentWriters writers);

    [[nodiscard]] bool made() const noexcept { return fd_.valid(); }
    [[nodiscard]] std::byte* base() const noexcept { return mapping_.bytes().data(); }
    // For the one client that may write to it.
    [[nodiscard]] Result<OwnFd> for_writing() const;
    [[nodiscard]] Result<OwnFd> for_reading() const;

    // Nobody else will map it; it stays mapped here, and gets no memory any more.
    void keep_to_itself() noexcept { fd_ = OwnFd{}; }

    // The bytes are there from now on, charged to this process. False: there is no memory. The
    // first process to touch them clears them, which takes about as long again.
    [[nodiscard]] bool provide(std::size_t begin, std::size_t bytes) noexcept;
    // The same, and this process touches them.
    [[nodiscard]] bool provide_here(std::size_t begin, std::size_t bytes) noexcept;
    // They go back to the system, and read as zeros again. Not of SegmentWriters::daemon.
    void release(std::size_t begin, std::size_t bytes) noexcept;

private:
    SharedSegment(OwnFd fd, adapters::MemoryMapping mapping) noexcept
        : fd_{std::move(fd)}, mapping_{std::move(mapping)} {}

    [[nodiscard]] bool within(std::size_t begin, std::size_t bytes) const noexcept {
        const std::size_t all = mapping_.bytes().size();
        return begin <= all && bytes <= all - begin;
    }

    OwnFd fd_;
    adapters::MemoryMapping mapping_;
};

}  // namespace forebay::daemon
