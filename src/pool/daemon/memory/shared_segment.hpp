// Shared memory that the daemon makes and clients map: a memfd whose size is sealed, so that nobody
// can truncate it under a reader. Its pages take memory only when they are provided or touched.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "storage/posix/mapping.hpp"

#include <cstddef>
#include <utility>

namespace forebay::daemon {

enum class SegmentWriters {
    // Nobody else can map it for writing, even by opening the descriptor again
    // (F_SEAL_FUTURE_WRITE).
    daemon,
    // Others get a read-only descriptor, and the file's mode keeps them from opening it again for
    // writing. Not sealed, because the kernel punches no holes into a sealed segment, and release()
    // needs that.
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
    // A descriptor for the one client that may write to the memory.
    [[nodiscard]] Result<OwnFd> for_writing() const;
    [[nodiscard]] Result<OwnFd> for_reading() const;

    // No other process will map the memory: closes the descriptor. The memory stays mapped here;
    // provide() and release() must not be called any more.
    void keep_to_itself() noexcept { fd_ = OwnFd{}; }

    // Allocates pages for the range, which count as this process's memory. False: there is no
    // memory. The first process to touch a page clears it, which takes about as long again.
    [[nodiscard]] bool provide(std::size_t begin, std::size_t bytes) noexcept;
    // As provide(), but the pages are cleared now, by this process.
    [[nodiscard]] bool provide_here(std::size_t begin, std::size_t bytes) noexcept;
    // Gives the pages back to the system; the range reads as zeros then. Contract: the segment is
    // not of SegmentWriters::daemon.
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
