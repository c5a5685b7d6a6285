// Asks the mount by ioctls (pool/protocol/mounted_file.hpp), and asks the daemon to make this
// process one more client of the file. If anything fails, the file's calls go on through the mount.
#include "pool/capture/files/mounted.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/capture/descriptors/tables.hpp"
#include "pool/capture/files/mount_owner.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/protocol/mounted_file.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace forebay::capture {

namespace {

// Reads of fewer bytes go through the mount: opening the file below costs some microseconds.
constexpr std::size_t below_bytes_min = std::size_t{32} << 10;
// FileDescription::below: the serving process and its descriptor; this one cannot be opened.
constexpr std::uint64_t not_below = 0;
constexpr std::uint32_t fuse_magic = 0x65735546;  // statfs(2)

bool may_write(const FileDescription& file) noexcept {
    return (file.flags.load(relaxed) & O_ACCMODE) != O_RDONLY;
}

// False: the descriptor is not of a mount of ours, or the mount refuses.
bool ask_mount(int fd, unsigned long request, void* answer) noexcept {
    const int before = errno;
    const long done =
        kernel::system_call(SYS_ioctl, fd, static_cast<long>(request), kernel::word_of(answer));
    errno = before;
    return done == 0;
}

// A mount has no device, and thus the major number 0.
bool can_be_mount(dev_t device) noexcept { return device != 0 && major(device) == 0; }

// Whether the descriptor's file system may be FUSE. Others are remembered, so that they are asked
// once: some pass an unknown ioctl on to all of their servers.
bool may_be_fuse(int fd, dev_t device) noexcept {
    const auto is_it = [device](const std::atomic<dev_t>& one) noexcept {
        return one.load(relaxed) == device;
    };
    if (std::ranges::any_of(state.not_fuse, is_it)) {
        return false;
    }
    struct statfs system{};
    if (kernel::fstatfs(fd, &system) != 0 ||
        static_cast<std::uint32_t>(system.f_type) == fuse_magic) {
        return true;
    }
    for (std::atomic<dev_t>& one : state.not_fuse) {
        dev_t known = 0;
        if (one.compare_exchange_strong(known, device, relaxed) || known == device) {
            break;
        }
    }
    return false;
}

// Asks, and remembers a mount of ours.
bool asked_whether_mounted(int fd, dev_t device) noexcept {
    std::uint64_t format = 0;
    if (!can_be_mount(device) || !may_be_fuse(fd, device) ||
        !ask_mount(fd, protocol::ask_whether_mounted, &format)) {
        return false;
    }
    for (KnownMount& one : state.mounts) {
        dev_t known = 0;
        if (one.device.compare_exchange_strong(known, device, relaxed)) {
            one.is_own.store(is_own_mount(device), relaxed);
            break;
        }
        if (known == device) {
            break;
        }
    }
    return true;
}

const KnownMount* find_mount(dev_t device) noexcept {
    const auto* const found =
        std::ranges::find_if(state.mounts, [device](const KnownMount& one) noexcept {
            const dev_t known = one.device.load(relaxed);
            return known == device || known == 0;
        });
    return found != state.mounts.end() && device != 0 && found->device.load(relaxed) == device
               ? found
               : nullptr;
}

// The mount of ours on which the descriptor's file is, if it is a regular one; null otherwise. By
// statx, which the mount is not asked for: the kernel knows type and device.
const KnownMount* mount_of(int fd) noexcept {
    const int before = errno;
    struct statx found{};
    const long done =
        kernel::system_call(SYS_statx, fd, kernel::word_of(""), AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                            STATX_TYPE, kernel::word_of(&found));
    errno = before;
    return done == 0 && S_ISREG(found.stx_mode)
               ? find_mount(makedev(found.stx_dev_major, found.stx_dev_minor))
               : nullptr;
}

// Whether what the mount says of the descriptor's file can be trusted.
bool is_on_own_mount(int fd) noexcept {
    const KnownMount* const mount = mount_of(fd);
    return mount != nullptr && mount->is_own.load(relaxed);
}

const pool::FileSlot& slot_joined_by(const FileDescription& file) noexcept {
    return connection.directory().files[file.file().slot];
}

// Whether the daemon that this process knows is the mount's, and means the same file. Two daemons
// could have it in the same slot.
bool is_same_file(const protocol::MountedFileId& answer) noexcept {
    if (answer.slot >= pool::files_max ||
        answer.daemon != connection.directory().header.process.load(relaxed)) {
        return false;
    }
    const pool::FileSlot& slot = connection.directory().files[answer.slot];
    return slot.device.load(relaxed) == answer.device && slot.inode.load(relaxed) == answer.inode &&
           slot.generation.load(std::memory_order_acquire) == answer.generation;
}

// Whether O_APPEND was set, by a process that has the description, too.
bool appends(CapturedFile place) noexcept {
    const int before = errno;
    const int flags = kernel::fcntl(place.fd, F_GETFL);
    errno = before;
    return flags < 0 || (flags & O_APPEND) != 0;
}

// A forked child has its parent's descriptions.
bool is_opened_here(const FileDescription& file) noexcept {
    return file.opener.load(relaxed) == kernel::getpid();
}

bool join(CapturedFile place) noexcept {
    const bool limited = may_write(place.file) && kernel::limit_of(RLIMIT_FSIZE) != RLIM_INFINITY;
    if (limited || !is_opened_here(place.file) || appends(place) || !is_on_own_mount(place.fd) ||
        !connection.reach() || connection.life() != DaemonConnection::Life::lives) {
        return false;
    }
    protocol::MountedFileId answer;
    if (!ask_mount(place.fd, protocol::ask_to_capture, &answer) || !is_same_file(answer)) {
        return false;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::join;
    question.slot = answer.slot;
    question.generation = answer.generation;
    question.flags = may_write(place.file) ? protocol::for_writing : 0;
    const auto reply = connection.ask(question);
    if (!reply || reply->error != 0) {
        return false;
    }
    place.file.set_file({.slot = answer.slot, .generation = answer.generation});
    place.file.below.store(std::uint64_t{static_cast<std::uint32_t>(answer.process)} << 32U |
                               static_cast<std::uint32_t>(answer.descriptor),
                           relaxed);
    place.file.connection.store(connection.generation(), std::memory_order_release);
    return true;
}

// Whether a file that was joined, by this process, is still in the pool. Once it is not, the mount
// may write below, where it sees no deposits.
bool stays(CapturedFile place) noexcept {
    if (place.file.connection.load(std::memory_order_acquire) != connection.generation() ||
        !connection.reached() || connection.life() != DaemonConnection::Life::lives) {
        return false;
    }
    const pool::FileSlot& slot = slot_joined_by(place.file);
    return slot.state.load(std::memory_order_acquire) == pool::FileState::pooled &&
           slot.generation.load(relaxed) == place.file.file().generation &&
           !(place.file.shared.load(relaxed) && appends(place));
}

}  // namespace

bool is_known_mount(dev_t device) noexcept { return device != 0 && find_mount(device) != nullptr; }

bool is_on_known_mount(int fd) noexcept {
    look_at_pool_folders();
    return state.mounts.front().device.load(relaxed) != 0 && mount_of(fd) != nullptr;
}

bool is_on_mount(int fd) noexcept {
    struct stat found{};
    return kernel::fstat(fd, &found) == 0 && asked_whether_mounted(fd, found.st_dev);
}

void learn_mount(const char* folder, dev_t device) noexcept {
    const int fd = !can_be_mount(device)
                       ? -1
                       : kernel::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        static_cast<void>(asked_whether_mounted(fd, device));
        kernel::close(fd);
    }
}

CaptureResult take_on_mounted(int fd, const DescriptorOrigin& opening) noexcept {
    if (!opening.fresh || opening.through != pool::ThroughReason::none) {
        return CaptureResult::no;  // O_TRUNC was not withheld from the kernel either
    }
    if (opening.empties && kernel::ftruncate(fd, 0) != 0) {
        return CaptureResult::failed;
    }
    const BlockedSignals until_stored;  // a child that is forked meanwhile would have half of it
    const InsideCall inside;
    FileDescription* const made = tracks(fd) ? descriptors.make() : nullptr;
    if (made == nullptr) {
        return CaptureResult::no;
    }
    const bool never = (opening.flags & (O_APPEND | O_DIRECT | O_DSYNC)) != 0;
    made->flags.store(opening.flags, relaxed);
    made->offset.store(in_kernel, relaxed);
    made->passes.store(true, relaxed);
    made->opener.store(kernel::getpid(), relaxed);
    made->mounted.store(never ? MountedUse::by_kernel : MountedUse::counted,
                        std::memory_order_release);
    descriptors.put(fd, made);
    if (!tracks(fd)) {  // another thread has just stopped tracking all others
        static_cast<void>(stop_tracking(fd));
    }
    return CaptureResult::yes;
}

FileRoute route_mounted(CapturedFile place, std::int64_t bytes) noexcept {
    std::atomic<MountedUse>& mounted = place.file.mounted;
    MountedUse now = mounted.load(std::memory_order_acquire);
    if (now == MountedUse::joined) {
        if (stays(place)) [[likely]] {
            return FileRoute::pooled;
        }
        mounted.store(MountedUse::by_kernel, relaxed);
        return FileRoute::passed;
    }
    const bool enough = now == MountedUse::counted &&
                        place.file.moved.fetch_add(bytes, relaxed) + bytes > mounted_small_bytes;
    if (!enough ||
        !mounted.compare_exchange_strong(now, MountedUse::joining, std::memory_order_acq_rel)) {
        return FileRoute::passed;
    }
    const bool joins = join(place);
    MountedUse joining = MountedUse::joining;
    const bool kept = mounted.compare_exchange_strong(
        joining, joins ? MountedUse::joined : MountedUse::by_kernel, std::memory_order_acq_rel);
    return joins && kept ? FileRoute::pooled : FileRoute::passed;
}

// For most reasons nothing has to happen: the mount sees the deposits of this process, and the
// kernel has the offset.
void leave_mounted(CapturedFile place, pool::ThroughReason reason) noexcept {
    switch (reason) {
        case pool::ThroughReason::append:
        case pool::ThroughReason::direct:
        case pool::ThroughReason::asked:
        case pool::ThroughReason::tables:
        case pool::ThroughReason::mapped:  // it ends where the kernel knows the file to end
            place.file.mounted.store(MountedUse::by_kernel, relaxed);
            break;
        case pool::ThroughReason::inherited:
        case pool::ThroughReason::sent: place.file.shared.store(true, relaxed); break;
        default: break;
    }
}

void refresh_size(CapturedFile place) noexcept {
    if (!is_mounted(place) || place.file.mounted.load(relaxed) == MountedUse::counted) {
        return;  // this process has deposited nothing by it
    }
    const int before = errno;
    struct stat ignored{};
    static_cast<void>(kernel::fstat(place.fd, &ignored));
    errno = before;
}

void refresh_size_of(int fd) noexcept {
    if (descriptors.captured(fd)) {
        const HeldDescription held{fd};
        if (held) {
            refresh_size({*held, fd});
        }
    }
}

namespace {

bool is_joined_file(const struct stat& found, const pool::FileSlot& slot) noexcept {
    return found.st_dev == slot.device.load(relaxed) && found.st_ino == slot.inode.load(relaxed) &&
           S_ISREG(found.st_mode);
}

}  // namespace

// The link in /proc leads to the file below, and opening it asks for this process' own rights. Its
// number may mean another file by now, or another process (in a PID namespace), so the inode is
// compared: before, since opening a device can do something, and behind.
std::optional<std::int64_t> read_below(CapturedFile place, std::int64_t offset,
                                       std::span<std::byte> bytes) noexcept {
    const std::uint64_t below = place.file.below.load(relaxed);
    if (below == not_below || !is_mounted(place) || bytes.size() < below_bytes_min) {
        return std::nullopt;
    }
    const pool::FileSlot& slot = slot_joined_by(place.file);
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "/proc/%u/fd/%u", static_cast<unsigned>(below >> 32U),
                  static_cast<std::uint32_t>(below));
    const int before = errno;
    struct stat found{};
    const int fd = kernel::stat(name.data(), &found) == 0 && is_joined_file(found, slot)
                       ? kernel::open(name.data(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                       : -1;
    const bool same = fd >= 0 && kernel::fstat(fd, &found) == 0 && is_joined_file(found, slot);
    const ssize_t got = same ? kernel::pread(fd, bytes.data(), bytes.size(), offset) : -1;
    if (fd >= 0) {
        kernel::close(fd);
    }
    errno = before;
    if (got < 0) {
        place.file.below.store(not_below, relaxed);
        return std::nullopt;
    }
    return got;
}

}  // namespace forebay::capture
