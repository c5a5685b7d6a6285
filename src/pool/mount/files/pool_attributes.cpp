// Adds deposits to stat's answer (pool/client/stat_addition.hpp).
#include "pool/client/stat_addition.hpp"
#include "pool/mount/files/pool_route.hpp"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

namespace forebay::mount {

bool PoolRoute::stat_again(int fd, struct stat& status) noexcept {
    return ::fstatat(fd, "", &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0;
}

// The file system is asked again behind the pool, so that bytes drained meanwhile are not missed.
int PoolRoute::add(const FileUse& use, int fd, struct stat& status) {
    if (link_ == nullptr || !S_ISREG(status.st_mode)) {
        return 0;
    }
    const pool::Directory& directory = link_->directory();
    const bool known = slot_of(use) != nullptr;
    std::optional<pool::StatAddition> addition;
    if (known) {
        const PoolLink::Reading reading{*link_};
        addition = pool::addition_of(directory, link_->reader(), use.file(),
                                     pool::grain_of(status.st_blksize));
    }
    if (known && !addition && link_->life() == PoolLink::Life::dead) {
        return EIO;  // the file below is shorter than what was acknowledged
    }
    if (use.known() && !stat_again(fd, status)) {
        return 0;
    }
    if (addition) {
        pool::add(*addition, pool::times_of(directory, use.file()), status);
    } else {
        const pool::ChangeTimes times =
            pool::remembered_times(directory, status.st_dev, status.st_ino);
        pool::set_change_time(times, times, status);
    }
    return 0;
}

}  // namespace forebay::mount
