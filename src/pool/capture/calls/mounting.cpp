// Captured umount and remount: the daemon's open descriptors keep a file system busy (EBUSY), so
// its files are drained first, and closed by the daemon unless a program has them open.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <atomic>
#include <bit>
#include <cerrno>
#include <ctime>
#include <optional>
#include <sys/mount.h>

namespace forebay::capture {

namespace {

// Drains and closes every file that the daemon knows, or only those on `device`.
void close_files(std::optional<dev_t> device) noexcept {
    const pool::Directory& directory = connection.directory();
    for (std::size_t word = 0; word < directory.files_known.size(); ++word) {
        std::uint64_t bits = directory.files_known[word].load(relaxed);
        for (; bits != 0; bits &= bits - 1) {
            const pool::FileSlot& slot =
                directory.files[word * 64 + static_cast<unsigned>(std::countr_zero(bits))];
            const dev_t on = slot.device.load(relaxed);
            if (slot.state.load(relaxed) != pool::FileState::free && (!device || on == *device)) {
                static_cast<void>(drain_and_close(on, slot.inode.load(relaxed)));
            }
        }
    }
}

void leave_file_system(std::optional<dev_t> device) noexcept {
    if (!capturing()) {
        return;
    }
    const int before = errno;
    in_one_process([&]() noexcept {
        const bool lives = connection.reach() && connection.life() == DaemonConnection::Life::lives;
        if (lives) {
            close_files(device);
        }
        return lives;
    });
    errno = before;
}

void leave_file_system(const char* path) noexcept {
    struct stat found{};
    const int before = errno;
    if (capturing() && path != nullptr && kernel::stat(path, &found) == 0) {
        leave_file_system(found.st_dev);
    }
    errno = before;
}

// Repeats the call for up to 100 ms while it fails with EBUSY: the daemon closes a drained file a
// few milliseconds later, or may be in statfs, and nothing shows when that has ended.
template <class Call>
int while_busy(const Call& call) noexcept {
    constexpr int tries_max = 100;
    constexpr timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
    const int before = errno;
    int done = call();
    for (int tried = 1; done != 0 && errno == EBUSY && capturing() && tried < tries_max; ++tried) {
        const std::atomic<std::uint32_t> nobody{0};
        kernel::futex_wait(nobody, 0, millisecond);
        errno = before;
        done = call();
    }
    return done;
}

}  // namespace

namespace captured {

int umount(const char* path) noexcept {
    leave_file_system(path);
    return while_busy([&]() noexcept { return real::umount(path); });
}

int umount2(const char* path, int flags) noexcept {
    leave_file_system(path);
    return while_busy([&]() noexcept { return real::umount2(path, flags); });
}

int mount(const char* from, const char* to, const char* type, unsigned long flags,
          const void* data) noexcept {
    const auto as_asked = [&]() noexcept { return real::mount(from, to, type, flags, data); };
    if ((flags & MS_REMOUNT) == 0) {
        return as_asked();
    }
    leave_file_system(to);
    return while_busy(as_asked);
}

// fsconfig is the newer way to remount; which file system `fd` stands for, only the kernel knows.
int fsconfig(int fd, unsigned command, const char* key, const void* value, int number) noexcept {
    const auto as_asked = [&]() noexcept {
        return real::fsconfig(fd, command, key, value, number);
    };
    if (command != kernel::reconfigure) {
        return as_asked();
    }
    leave_file_system(std::nullopt);
    return while_busy(as_asked);
}

int mount_setattr(int folder, const char* path, unsigned flags, mount_attr* wanted,
                  std::size_t bytes) noexcept {
    leave_file_system(std::nullopt);
    return while_busy(
        [&]() noexcept { return real::mount_setattr(folder, path, flags, wanted, bytes); });
}

}  // namespace captured

}  // namespace forebay::capture
