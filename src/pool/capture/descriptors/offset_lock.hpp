// A lock around the move of an offset that the kernel has. lseek can move an offset by a number of
// bytes, but not only where it still is where it was: two processes that share a description would
// read the same bytes. Processes that share a description have come about by forks (the file leaves
// the pool where it is shared otherwise), so they have the lock in memory that forks share.
#pragma once

#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/capture/processes/inside_call.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::capture {

// The locks of all descriptions; several have one, each of which is held for some instructions.
struct OffsetLocks {
    std::array<std::atomic<std::uint32_t>, 1024> holders;  // threads; 0: nobody
};

// RAII. No signal handler runs meanwhile: it could fork, or move the offset itself. A holder that
// has been killed is not waited for, and one that is suspended for 10 s.
class OffsetLock {
public:
    explicit OffsetLock(const FileDescription& file) noexcept;
    OffsetLock(const OffsetLock&) = delete;
    OffsetLock& operator=(const OffsetLock&) = delete;
    ~OffsetLock();

    // Before a fork: the child will have the same locks. Without memory for them each process has
    // its own.
    static void share_with_child() noexcept;

private:
    BlockedSignals until_moved_;
    std::atomic<std::uint32_t>& holder_;
    std::uint32_t self_;
};

}  // namespace forebay::capture
