// Operations of this process on one captured file: introduces it to the daemon, routes its calls,
// and asks the daemon to drain, truncate or sync it, or to make it leave the pool.
#pragma once

#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/client/daemon.hpp"
#include "pool/protocol/directory.hpp"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace forebay::capture {

// Offsets in bytes up to which the file systems of pooled files go; beyond, the kernel is asked
// (EFBIG).
inline constexpr std::int64_t sure_max = pool::deposit_end_max;

// Fails as libc's calls do: sets errno and returns -1.
inline int fail(int error) noexcept {
    errno = error;
    return -1;
}

// An open file description of the pool, and a descriptor that refers to it; -1: none is open here.
struct CapturedFile {
    FileDescription& file;
    int fd;
};

// Drops a hold of the description; with the last one the daemon learns that the file is closed.
// Returns 0, or the errno that the daemon kept for the file.
int let_go(FileDescription& held) noexcept;

// Holds the description behind `fd` during a call, so that it is not reused although another thread
// closes the descriptor. False if `fd` is not captured.
class HeldDescription {
public:
    explicit HeldDescription(int fd) noexcept;
    HeldDescription(const HeldDescription&) = delete;
    HeldDescription& operator=(const HeldDescription&) = delete;
    ~HeldDescription() {
        if (held_ != nullptr) {
            let_go(*held_);
        }
    }
    // Whether this process is a child that was forked since: the call is its parent's.
    [[nodiscard]] bool is_parents() const noexcept { return inside_.is_parents(); }
    [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }
    [[nodiscard]] FileDescription& operator*() const noexcept { return *held_; }
    [[nodiscard]] FileDescription* operator->() const noexcept { return held_; }

private:
    InsideCall inside_;
    FileDescription* held_ = nullptr;
};

enum class FileRoute {
    pooled,  // deposits, and reads over them
    passed,  // the file is not pooled: libc's function does it
    lost,    // the daemon is dead: EIO
};
// Decides how a call on the file goes: `passed` for a file of a mount. In a forked child, the first
// call introduces the file anew over the child's connection.
[[nodiscard]] FileRoute route(CapturedFile place) noexcept;

// How a descriptor came about.
struct DescriptorOrigin {
    int flags = 0;
    // A reason not to pool the file, or none.
    pool::ThroughReason through = pool::ThroughReason::none;
    bool empties = false;  // O_TRUNC was asked for, but withheld from the kernel
    bool fresh = true;     // no other descriptor shares its offset
};
// Failed: errno is set, and the descriptor is still open.
enum class CaptureResult { no, yes, failed };
// Captures the descriptor if it is a regular file below a pool path, or known to the daemon.
[[nodiscard]] CaptureResult take_on(int fd, const DescriptorOrigin& opening) noexcept;

// From now on the kernel has the offset (lseek), so that libc or another process can use it.
void put_offset_into_kernel(CapturedFile place) noexcept;
// Makes the file leave the pool: it is drained, and all processes write through. Returns 0 or an
// errno.
int leave(CapturedFile place, pool::ThroughReason reason) noexcept;
// Adjustments of one file that a program asks for (forebay_pool.h).
struct RequestedAdjustment {
    std::int64_t window = 0;  // write-behind window in bytes; 0: unchanged
    bool back = false;        // the file comes back into the pool
};
// Returns 0 or an errno.
int adjust(CapturedFile place, const RequestedAdjustment& wanted) noexcept;
// Whether the table of descriptors may say what `fd` is.
[[nodiscard]] bool tracks(int fd) noexcept;
// Captures the descriptor of a file of a mount, as soon as that pays; but not one that another
// process, or libc for a stream of its own, has opened.
[[nodiscard]] CaptureResult take_on_mounted(int fd, const DescriptorOrigin& opening) noexcept;
// leave(), if `fd` is captured. Returns 0 or an errno.
int leave_if_captured(int fd, pool::ThroughReason reason) noexcept;
// Makes all captured files of this process leave, and those that it will open.
void leave_for_good() noexcept;
// Drains the file: all earlier writes, by any process, are in the file system. Returns 0 or an
// errno.
int drain(CapturedFile place) noexcept;
int drain_if_captured(int fd) noexcept;
// drain(), before the program changes the inode itself (times, mode, owner) beside the file's
// bytes.
int drain_to_change(CapturedFile place) noexcept;
int drain_to_change_if_captured(int fd) noexcept;
// drain(), and then fsync: the storage has the bytes. Returns 0 or an errno.
int sync(CapturedFile place) noexcept;
int truncate(CapturedFile place, std::int64_t bytes) noexcept;
// The errno that the daemon keeps for the file from draining; 0: none.
[[nodiscard]] int error_of(CapturedFile place) noexcept;
// fstat's st_size, with deposits; or minus an errno.
[[nodiscard]] std::int64_t size_of(CapturedFile place) noexcept;

// The name of the file in the directory; nullopt if the daemon does not know it. Precondition:
// connection.reached().
[[nodiscard]] std::optional<pool::FileId> known(dev_t device, ino_t inode) noexcept;
// The result of closing a descriptor that wrote to the file: 0 if its deposits are expected to
// reach the file system, or an errno. If only draining can tell (little room is left), it is
// drained.
[[nodiscard]] int arrives(pool::FileId file) noexcept;
// Has all nodes drain the file. Returns 0 or an errno.
[[nodiscard]] int settle(pool::FileId file) noexcept;

// Runs a captured call on `fd`: `own` does it over the pool and returns -1 and errno as libc does;
// `pass` calls libc's function. Keeps errno unless the call fails.
template <class Pass, class Own>
auto on(int fd, const Pass& pass, const Own& own) noexcept -> decltype(pass());
// The same; `decide` is called in place of route().
template <class Pass, class Own, class Decide>
auto on(int fd, const Pass& pass, const Own& own, const Decide& decide) noexcept
    -> decltype(pass());

}  // namespace forebay::capture

#include "pool/capture/processes/process.hpp"

namespace forebay::capture {

template <class Pass, class Own>
auto on(int fd, const Pass& pass, const Own& own) noexcept -> decltype(pass()) {
    return on(fd, pass, own, [](CapturedFile place) noexcept { return route(place); });
}

template <class Pass, class Own, class Decide>
auto on(int fd, const Pass& pass, const Own& own, const Decide& decide) noexcept
    -> decltype(pass()) {
    if (!descriptors.captured(fd)) [[likely]] {
        return pass();
    }
    const int before = errno;
    for (;;) {
        const HeldDescription held{fd};
        const FileRoute here = held ? decide(CapturedFile{*held, fd}) : FileRoute::passed;
        const auto result = here == FileRoute::pooled ? own(CapturedFile{*held, fd}) : -1;
        if (held.is_parents()) {
            continue;  // a signal handler has forked this child in the middle: it calls anew
        }
        if (here == FileRoute::pooled && result == -1 && !descriptors.refers(fd, *held)) {
            continue;  // another thread has replaced the descriptor: it means another file now
        }
        if (here == FileRoute::lost) {
            errno = EIO;
            return -1;
        }
        if (here == FileRoute::pooled) {
            if (result != -1) {
                errno = before;
            }
            return result;
        }
        break;
    }
    // The hold is dropped before: libc's function may be a cancellation point, and a thread
    // cancelled in it would keep the hold.
    errno = before;
    return pass();
}

}  // namespace forebay::capture
