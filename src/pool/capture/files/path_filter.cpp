// The path that counts is the kernel's own, with links resolved: the name that a program uses may
// lead through symbolic links and relative directories.
#include "pool/capture/files/path_filter.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>

namespace forebay::capture {

namespace {

// The file system of the directory; of the one below, if the directory is on a mount of Forebay,
// which may end at any time. That of another file system that is mounted on the directory is not
// found, nor is it needed: see possible_on().
dev_t device_below(PathBuffer& path, dev_t device) noexcept {
    constexpr std::string_view parent = "/..";
    const std::size_t end = std::strlen(path.data());
    if (!is_known_mount(device) || end + parent.size() >= path.size()) {
        return device;
    }
    std::memcpy(path.data() + end, parent.data(), parent.size());
    path[end + parent.size()] = '\0';
    struct stat found{};
    return kernel::stat(path.data(), &found) == 0 ? found.st_dev : device;
}

const PoolDevices& devices() noexcept {
    PoolDevices& all = state.devices;
    if (!all.known.load(std::memory_order_acquire)) {
        const int before = errno;
        struct stat found{};
        all.root = kernel::stat("/", &found) == 0 ? found.st_dev : 0;
        bool are_on_root = false;
        for (std::size_t i = 0; i < state.paths.count(); ++i) {
            PathBuffer path;
            const std::string_view folder = state.paths.folder(i);
            std::memcpy(path.data(), folder.data(), folder.size());
            path[std::min(folder.size(), path.size() - 1)] = '\0';
            all.folders[i] = kernel::stat(path.data(), &found) == 0 ? found.st_dev : 0;
            learn_mount(path.data(), all.folders[i]);
            are_on_root = are_on_root || device_below(path, all.folders[i]) == all.root;
        }
        all.are_on_root = are_on_root;
        all.known.store(true, std::memory_order_release);
        errno = before;
    }
    return all;
}

bool any_on(dev_t device) noexcept {
    const PoolDevices& all = devices();
    const auto* const end = all.folders.begin() + state.paths.count();
    return std::find(all.folders.begin(), end, device) != end;
}

bool pooled_folder() noexcept {
    WorkingFolder now = state.folder.load(relaxed);
    if (now == WorkingFolder::unknown) {
        PathBuffer buffer;
        const ssize_t bytes = kernel::getcwd(buffer.data(), buffer.size());
        now = bytes > 1 && state.paths.hold({buffer.data(), static_cast<std::size_t>(bytes) - 1})
                  ? WorkingFolder::pooled
                  : WorkingFolder::outside;
        state.folder.store(now, relaxed);
    }
    return now == WorkingFolder::pooled;
}

}  // namespace

void look_at_pool_folders() noexcept { static_cast<void>(devices()); }

std::string_view path_of(int fd, PathBuffer& buffer) noexcept {
    constexpr std::string_view folder = "/proc/self/fd/";
    std::array<char, 32> link{};
    std::memcpy(link.data(), folder.data(), folder.size());
    std::to_chars(link.data() + folder.size(), link.data() + link.size() - 1, fd);
    const ssize_t bytes = kernel::readlink(link.data(), buffer.data(), buffer.size());
    return bytes > 0 && buffer[0] == '/'
               ? std::string_view{buffer.data(), static_cast<std::size_t>(bytes)}
               : std::string_view{};
}

// One comparison of device numbers dismisses most files of a program. Other file systems are always
// possible, because they may be mounted below a pool path.
bool possible_on(dev_t device) noexcept {
    const dev_t root = devices().root;
    if (is_known_mount(device)) {
        return false;  // what the pool has of its files, the mount knows
    }
    return device != root || devices().are_on_root;
}

bool is_pooled(int fd, dev_t device, PathBuffer& buffer, std::string_view& path) noexcept {
    if (!possible_on(device)) {
        return false;
    }
    path = path_of(fd, buffer);
    return !path.empty() && state.paths.hold(path);
}

bool may_be_pooled(int folder, const char* path, dev_t device) noexcept {
    const int before = errno;
    const bool on_folder = any_on(device);
    if (on_folder && is_known_mount(device)) {
        errno = before;
        return false;  // the mount answers for it
    }
    bool may = on_folder && device != devices().root;
    if (!may && path != nullptr && path[0] == '/') {
        may = state.paths.hold(path);
    } else if (!may && folder == AT_FDCWD) {
        may = pooled_folder();
    } else if (!may) {
        PathBuffer buffer;
        std::string_view of_folder;
        may = is_pooled(folder, device, buffer, of_folder);
    }
    errno = before;
    return may;
}

bool covers(const char* path) noexcept {
    if (!capturing() || path == nullptr) {
        return false;
    }
    const int before = errno;
    PathBuffer buffer;
    int fd = kernel::open(path, O_PATH | O_CLOEXEC);
    const std::size_t bytes = std::strlen(path);
    if (fd < 0 && bytes < buffer.size()) {
        std::memcpy(buffer.data(), path, bytes + 1);
        char* const slash = std::strrchr(buffer.data(), '/');
        const bool relative = slash == nullptr;
        if (!relative) {
            slash[slash == buffer.data() ? 1 : 0] = '\0';
        }
        fd = kernel::open(relative ? "." : buffer.data(), O_PATH | O_CLOEXEC);
    }
    const bool held = fd >= 0 && state.paths.hold(path_of(fd, buffer));
    if (fd >= 0) {
        kernel::close(fd);
    }
    errno = before;
    return held;
}

}  // namespace forebay::capture
