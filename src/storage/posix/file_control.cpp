// Metadata calls on one descriptor.
#include "storage/posix/file_control.hpp"

#include "foundation/base/times.hpp"
#include "foundation/kernel/calls.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <limits>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace forebay::adapters {

PosixFileControl::PosixFileControl(OwnFd fd) noexcept
    : own_{std::move(fd)}, fd_{own_.get()}, counts_names_{named()} {}

PosixFileControl::PosixFileControl(int fd) noexcept : fd_{fd}, counts_names_{named()} {}

int PosixFileControl::truncate(Length bytes) {
    int status = 0;
    do {
        status = kernel::ftruncate(fd_, bytes.bytes());
    } while (status != 0 && errno == EINTR);
    return status == 0 ? 0 : errno;
}

int PosixFileControl::sync() {
    int status = 0;
    do {
        status = kernel::fsync(fd_);
    } while (status != 0 && errno == EINTR);
    return status == 0 ? 0 : errno;
}

int PosixFileControl::set_modified(std::int64_t time_ns) {
    std::int64_t seconds = time_ns / second_ns;
    std::int64_t rest = time_ns % second_ns;
    if (rest < 0) {
        --seconds;
        rest += second_ns;
    }
    const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, timespec{seconds, rest}};
    return kernel::futimens(fd_, times.data()) == 0 ? 0 : errno;
}

bool PosixFileControl::named() const noexcept {
    struct stat found{};
    return kernel::fstat(fd_, &found) != 0 || found.st_nlink > 0;
}

bool PosixFileControl::has_name() { return !counts_names_ || named(); }

std::optional<ports::ChangeStamp> PosixFileControl::stamp() {
    struct stat found{};
    if (kernel::fstat(fd_, &found) != 0) {
        return std::nullopt;
    }
    return stamp_of(found);
}

std::int64_t PosixFileControl::room() {
    struct statfs found{};
    return kernel::fstatfs(fd_, &found) == 0 ? room_of(found) : -1;
}

ports::ChangeStamp stamp_of(const struct stat& found) noexcept {
    return {.bytes = found.st_size,
            .modified_ns = nanoseconds_of(found.st_mtim),
            .changed_ns = nanoseconds_of(found.st_ctim)};
}

std::int64_t room_of(const struct statfs& found) noexcept {
    const auto blocks = static_cast<std::uint64_t>(found.f_bavail);
    const auto block =
        static_cast<std::uint64_t>(found.f_frsize > 0 ? found.f_frsize : found.f_bsize);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (found.f_blocks == 0 || block == 0) {
        return -1;  // the file system does not count its blocks
    }
    return static_cast<std::int64_t>(blocks > most / block ? most : blocks * block);
}

}  // namespace forebay::adapters
