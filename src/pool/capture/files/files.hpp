// The use that this process makes of a file of the pool: makes it known, holds it, asks for it.
#pragma once

#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/client/daemon.hpp"
#include "pool/protocol/directory.hpp"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace forebay::capture {

// Beyond, the kernel is asked whether the file system has such an offset.
inline constexpr std::int64_t sure_max = std::int64_t{1} << 40;

// As libc's calls fail.
inline int fail(int error) noexcept {
    errno = error;
    return -1;
}

// A file, and a descriptor by which the kernel knows it.
struct CapturedFile {
    FileDescription& file;
    int fd;
};

// Drops a hold; the last one tells the daemon. An errno that the file kept, or 0.
int let_go(FileDescription& held) noexcept;

// While it lives, the description stays this file's, whatever is closed meanwhile.
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
    [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }
    [[nodiscard]] FileDescription& operator*() const noexcept { return *held_; }
    [[nodiscard]] FileDescription* operator->() const noexcept { return held_; }

private:
    FileDescription* held_ = nullptr;
};

enum class FileRoute {
    pooled,  // over the pool
    passed,  // libc's business
    lost,    // the daemon is dead: EIO
};
// A forked child makes its files known anew here.
[[nodiscard]] FileRoute route(CapturedFile place) noexcept;

// How a descriptor came about.
struct DescriptorOrigin {
    int flags = 0;
    pool::ThroughReason through = pool::ThroughReason::none;  // why it is not to be pooled
    bool empties = false;  // O_TRUNC, which the kernel was not told
    bool fresh = true;     // nobody else has its offset
};
enum class CaptureResult { no, yes, failed };  // failed: with errno, and the descriptor is open
// Makes it a captured descriptor, if it is a regular file below a pool path.
[[nodiscard]] CaptureResult take_on(int fd, const DescriptorOrigin& opening) noexcept;

// The offset is the kernel's from now on.
void put_offset_into_kernel(CapturedFile place) noexcept;
// It is drained, and everybody's writes go to the file system. 0 or an errno.
int leave(CapturedFile place, pool::ThroughReason reason) noexcept;
// A program's wishes for one file (forebay_pool.h). 0 or an errno.
struct RequestedAdjustment {
    std::int64_t window = 0;  // bytes; 0: as it is
    bool back = false;        // into the pool
};
int adjust(CapturedFile place, const RequestedAdjustment& wanted) noexcept;
// Leaves, if the descriptor is captured. 0 or an errno.
int leave_if_captured(int fd, pool::ThroughReason reason) noexcept;
// All files of this process, and all that it will open.
void leave_for_good() noexcept;
// Puts all earlier writes, by whomever, into the file system. 0 or an errno.
int drain(CapturedFile place) noexcept;
int drain_if_captured(int fd) noexcept;
// The same, before the program changes the file itself, beside its bytes.
int drain_to_change(CapturedFile place) noexcept;
int drain_to_change_if_captured(int fd) noexcept;
// As drain; and the storage has it.
int sync(CapturedFile place) noexcept;
int truncate(CapturedFile place, std::int64_t bytes) noexcept;
// The error that the daemon still holds for the file.
[[nodiscard]] int error_of(CapturedFile place) noexcept;
// As fstat's st_size, with deposits; or minus an errno.
[[nodiscard]] std::int64_t size_of(CapturedFile place) noexcept;

// A file that the daemon knows; where it was reached.
[[nodiscard]] std::optional<pool::FileId> known(dev_t device, ino_t inode) noexcept;
// The daemon drains that file, and closes it unless clients have it open. 0 or an errno.
[[nodiscard]] int drain_and_close(dev_t device, ino_t inode) noexcept;
// As far as can be known, what was deposited arrives; it is drained where only that tells. 0, or an
// errno: what closing a descriptor returns that has written to the file.
[[nodiscard]] int arrives(pool::FileId file) noexcept;
// All nodes have drained it. 0, or -1 and errno.
int settle(pool::FileId file) noexcept;

// A captured call: `pass` is libc's, `own` is done over the pool, and returns -1 and errno as libc
// does. errno stays as it was where nothing fails.
template <class Pass, class Own>
auto on(int fd, const Pass& pass, const Own& own) noexcept -> decltype(pass());

}  // namespace forebay::capture

#include "pool/capture/processes/process.hpp"

namespace forebay::capture {

template <class Pass, class Own>
auto on(int fd, const Pass& pass, const Own& own) noexcept -> decltype(pass()) {
    if (!descriptors.captured(fd)) [[likely]] {
        return pass();
    }
    const int before = errno;
    {
        const HeldDescription held{fd};
        const FileRoute here = held ? route({*held, fd}) : FileRoute::passed;
        if (here == FileRoute::lost) {
            errno = EIO;
            return -1;
        }
        if (here == FileRoute::pooled) {
            const auto result = own(CapturedFile{*held, fd});
            if (result != -1) {
                errno = before;
            }
            return result;
        }
    }
    // libc's may be a cancellation point, and a cancelled thread would not give back what it holds.
    errno = before;
    return pass();
}

}  // namespace forebay::capture
