// Finds the file by its inode in the directory of the dead daemon, which nobody changes any more.
#include "pool/capture/files/lost_files.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/client/daemon_life.hpp"
#include "pool/client/known_file.hpp"
#include "pool/client/lost_deposits.hpp"

#include <bit>
#include <cerrno>
#include <optional>
#include <sys/stat.h>

namespace forebay::capture {

namespace {

// The directory of a dead daemon: of this process', or of its parent's; else null.
const pool::Directory* dead_directory() noexcept {
    const pool::Directory* const last =
        connection.reached() ? &connection.directory() : connection.parents_directory();
    return last != nullptr && pool::life_of(*last) == pool::DaemonLife::dead ? last : nullptr;
}

std::uint64_t daemon_of(const pool::Directory& directory) noexcept {
    return directory.header.process.load(relaxed);
}

bool lacks_deposits(const pool::Directory& directory, pool::FileId file) noexcept {
    if (rewritten_files.holds(daemon_of(directory), file.slot)) {
        return false;
    }
    const DaemonConnection::Reading reading{connection};
    return pool::lacks_deposits(directory, connection.reached() ? &connection.reader() : nullptr,
                                file);
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
    const pool::Directory* const directory = dead_directory();
    const auto file =
        directory == nullptr ? std::nullopt : pool::known_file(*directory, seen.device, seen.inode);
    const bool lost = file &&
                      pool::is_untouched(pool::times_of(*directory, *file), seen.modified_ns) &&
                      lacks_deposits(*directory, *file);
    if (lost) {
        connection.report_daemon_death();
    }
    return lost;
}

bool is_lost(int fd) noexcept {
    const auto seen = dead_directory() == nullptr ? std::nullopt : seen_at(fd);
    return seen && is_lost(*seen);
}

bool any_is_lost() noexcept {
    const pool::Directory* const directory = dead_directory();
    if (directory == nullptr) {
        return false;
    }
    for (std::uint32_t word = 0; word < directory->files_known.size(); ++word) {
        std::uint64_t slots = directory->files_known[word].load(relaxed);
        for (; slots != 0; slots &= slots - 1) {
            const std::uint32_t slot =
                word * 64 + static_cast<std::uint32_t>(std::countr_zero(slots));
            const std::uint32_t generation = directory->files[slot].generation.load(relaxed);
            if (lacks_deposits(*directory, {.slot = slot, .generation = generation})) {
                connection.report_daemon_death();
                return true;
            }
        }
    }
    return false;
}

int error_of_opening(int fd, bool anew) noexcept {
    const pool::Directory* const directory = dead_directory();
    const auto seen = directory == nullptr ? std::nullopt : seen_at(fd);
    if (!seen) {
        return 0;
    }
    if (!anew) {
        return is_lost(*seen) ? EIO : 0;
    }
    if (const auto file = pool::known_file(*directory, seen->device, seen->inode)) {
        rewritten_files.add(daemon_of(*directory), file->slot);
    }
    return 0;
}

}  // namespace forebay::capture
