// Finds the file by its inode in the directory of the dead daemon, which nobody changes any more.
#include "pool/capture/files/lost_files.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/additions.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/client/lost_deposits.hpp"

#include <bit>
#include <cerrno>
#include <optional>
#include <sys/stat.h>

namespace forebay::capture {

namespace {

bool is_daemon_dead() noexcept {
    return connection.reached() && connection.life() == DaemonConnection::Life::dead;
}

bool lacks_deposits(pool::FileId file) noexcept {
    const DaemonConnection::Reading reading{connection};
    return !rewritten_files.holds(file.slot) &&
           pool::lacks_deposits(connection.directory(), connection.reader(), file);
}

std::optional<SeenFile> seen_at(int fd) noexcept {
    const int before = errno;
    struct stat found{};
    const bool is_file = kernel::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
    errno = before;
    const std::int64_t modified = found.st_mtim.tv_sec * nanoseconds + found.st_mtim.tv_nsec;
    return is_file ? std::optional{SeenFile{found.st_dev, found.st_ino, modified}} : std::nullopt;
}

}  // namespace

bool is_lost(const SeenFile& seen) noexcept {
    if (!is_daemon_dead()) {
        return false;
    }
    const auto file = known(seen.device, seen.inode);
    const bool lost =
        file && pool::is_untouched(times_of(*file), seen.modified_ns) && lacks_deposits(*file);
    if (lost) {
        connection.report_daemon_death();
    }
    return lost;
}

bool is_lost(int fd) noexcept {
    if (!is_daemon_dead()) {
        return false;
    }
    const auto seen = seen_at(fd);
    return seen && is_lost(*seen);
}

bool any_is_lost() noexcept {
    if (!is_daemon_dead()) {
        return false;
    }
    const pool::Directory& directory = connection.directory();
    for (std::uint32_t word = 0; word < directory.files_known.size(); ++word) {
        std::uint64_t slots = directory.files_known[word].load(relaxed);
        for (; slots != 0; slots &= slots - 1) {
            const std::uint32_t slot =
                word * 64 + static_cast<std::uint32_t>(std::countr_zero(slots));
            const std::uint32_t generation = directory.files[slot].generation.load(relaxed);
            if (lacks_deposits({.slot = slot, .generation = generation})) {
                connection.report_daemon_death();
                return true;
            }
        }
    }
    return false;
}

int error_of_opening(int fd, bool anew) noexcept {
    if (!is_daemon_dead()) {
        return 0;
    }
    const auto seen = seen_at(fd);
    if (!seen) {
        return 0;
    }
    if (anew) {
        if (const auto file = known(seen->device, seen->inode)) {
            rewritten_files.add(file->slot);
        }
        return 0;
    }
    return is_lost(*seen) ? EIO : 0;
}

}  // namespace forebay::capture
