// The files are in /tmp, not in XDG_RUNTIME_DIR, which a batch job may lack where a login has it.
#include "pool/mount/serving/directory_lock.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/own_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

Result<std::optional<DirectoryLock>> DirectoryLock::take(const struct stat& found) {
    const std::string folder = fmt::format("/tmp/forebay-{}", ::geteuid());
    constexpr mode_t own_folder = 0700;
    constexpr mode_t own_file = 0600;
    if (::mkdir(folder.c_str(), own_folder) != 0 && errno != EEXIST) {
        return failure(system_error(errno, "make the folder " + folder));
    }
    if (!OwnFd{kernel::open_own_folder(folder.c_str())}.valid()) {
        return failure(system_error(errno, "use the folder " + folder));
    }
    std::string path = fmt::format("{}/mount-{}-{}.lock", folder, found.st_dev, found.st_ino);
    OwnFd file{kernel::open_own(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, own_file)};
    if (!file.valid()) {
        return failure(system_error(errno, "open " + path));
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? Result<std::optional<DirectoryLock>>{std::nullopt}
                                    : failure(system_error(errno, "lock " + path));
    }
    DirectoryLock lock{std::move(file), std::move(path)};
    // Its last holder may have removed the file after it was opened here.
    return lock.has_its_name() ? std::optional{std::move(lock)} : std::nullopt;
}

bool DirectoryLock::has_its_name() const noexcept {
    struct stat held{};
    struct stat named{};
    return ::fstat(file_.get(), &held) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void DirectoryLock::remove() noexcept {
    if (has_its_name()) {
        ::unlink(path_.c_str());
    }
}

}  // namespace forebay::mount
