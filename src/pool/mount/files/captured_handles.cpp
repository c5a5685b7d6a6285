// Handlers of the ioctls of captured programs. From the answer until RELEASE of the handle, such a
// program may write to the file by deposits that this process sees in the daemon's directory only.
//
// Two kinds of attributes could be remembered by the kernel for longer than they are right: those
// that it has already, which are evicted here, and those of answers that are under way. The kernel
// ignores an answer to GETATTR and LOOKUP that is older than the eviction, but not one to CREATE,
// LINK or SETATTR: so these never let it remember attributes (MountServer::attributes_valid).
#include "foundation/base/atomics.hpp"
#include "pool/mount/serving/operations.hpp"
#include "pool/protocol/mounted_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

namespace {

// A write would have to clear set-id bits or file capabilities.
bool is_privileged(int fd) noexcept {
    struct stat status{};
    return ::fstat(fd, &status) != 0 || (status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
           ::fgetxattr(fd, "security.capability", nullptr, 0) >= 0;
}

}  // namespace

// Precondition: the caller holds the file's mutex.
bool PoolRoute::is_pooled_there(const FileUse& use) const noexcept {
    const pool::FileSlot* const slot = slot_of(use);
    return use.pooled.load(relaxed) && slot != nullptr &&
           slot->state.load(std::memory_order_acquire) == pool::FileState::pooled;
}

int PoolRoute::begin_capture(FileUse& use, OpenHandle& handle) {
    constexpr int not_captured = O_APPEND | O_DIRECT | O_DSYNC;
    if (link_ == nullptr || link_->life() != PoolLink::Life::lives ||
        (handle.flags & not_captured) != 0) {
        return EBUSY;
    }
    const std::unique_lock gate{use.below_gate};
    const std::scoped_lock lock{use.mutex};
    struct stat status{};
    if (use.aside || ::fstat(handle.fd.get(), &status) != 0) {
        return EBUSY;
    }
    const bool is_known =
        use.pooled.load(relaxed) && (!handle.writes() || use.writes_known.load(relaxed));
    if ((!is_known && introduce(use, handle.fd.get(), handle.flags, status.st_ino) != 0) ||
        !is_pooled_there(use)) {
        return EBUSY;
    }
    return !handle.writes() || handle.captured || count_capture(use, handle) ? 0 : EBUSY;
}

// False: the handle is not counted, since something is under way beside which no captured program
// may write, or the file has set-id bits.
bool PoolRoute::count_capture(FileUse& use, OpenHandle& handle) {
    handle.captured = true;
    handle.deposited.store(true, relaxed);
    use.size_known.store(false, relaxed);
    use.captured_writers.fetch_add(1, std::memory_order_seq_cst);
    if (use.capture_bans.load(std::memory_order_seq_cst) > 0 || is_privileged(handle.fd.get())) {
        end_capture(use, handle);
        return false;
    }
    return true;
}

void PoolRoute::end_capture(FileUse& use, OpenHandle& handle) noexcept {
    if (std::exchange(handle.captured, false)) {
        use.captured_writers.fetch_sub(1, std::memory_order_seq_cst);
    }
}

int PoolRoute::make_way(FileUse& use, pool::ThroughReason reason) {
    return use.captured_writers.load(std::memory_order_seq_cst) == 0 ? 0 : step_aside(use, reason);
}

int answer_whether_mounted(const FuseRequest& asked) {
    const std::uint64_t format = pool::format;
    fuse_reply_ioctl(asked.request, 0, &format, sizeof format);
    return replied;
}

int answer_capture(const FuseRequest& asked, fuse_ino_t number, const fuse_file_info* file) {
    MountedInode& inode = asked.inode(number);
    if (!asked.server.captures() || !inode.is_regular) {
        return EBUSY;
    }
    // Nothing waits for this thread from here on: it neither reads requests nor holds a lock while
    // the kernel evicts attributes.
    asked.server.lead().pass_on();
    OpenHandle& handle = open_handle(file);
    if (const int error = asked.server.route().begin_capture(inode.use, handle); error != 0) {
        return error;
    }
    if (handle.writes()) {
        const int error = asked.server.evict_attributes(number);
        if (error != 0 && error != ENOENT) {
            return EBUSY;
        }
    }
    const pool::FileId id = inode.use.file();
    const protocol::MountedFileId answer{
        .daemon = static_cast<std::uint64_t>(asked.server.daemon()),
        .device = inode.key.device,
        .inode = inode.key.inode,
        .slot = id.slot,
        .generation = id.generation,
        .process = ::getpid(),
        .descriptor = handle.fd.get(),
    };
    fuse_reply_ioctl(asked.request, 0, &answer, sizeof answer);
    return replied;
}

}  // namespace forebay::mount
