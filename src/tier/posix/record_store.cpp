// Sidecars are written beside, synced, and renamed into their place.
#include "tier/posix/record_store.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "storage/posix/storage.hpp"
#include "storage/posix/write_whole.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <utility>

namespace forebay::tier {

namespace {

constexpr mode_t folder_mode = 0700;
constexpr mode_t file_mode = 0600;
constexpr std::size_t record_bytes_max = 8192;
constexpr int own_file = O_NOFOLLOW | O_CLOEXEC;

using RecordBytes = std::vector<std::byte>;

// Errnos of a file system that keeps no extended attributes, or none of this size.
bool is_not_kept(int system) noexcept {
    return system == EOPNOTSUPP || system == ENOSYS || system == ENOSPC || system == E2BIG ||
           system == ERANGE;
}

}  // namespace

int SidecarFolder::open_folder() {
    const std::lock_guard lock{mutex_};
    if (!folder_.valid() && !missing_) {
        folder_ = OwnFd{kernel::openat(parent_, name_.c_str(),
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        missing_ = !folder_.valid() && errno == ENOENT && writer_ == SidecarWriter::this_process;
    }
    return folder_.get();
}

Result<std::optional<RecordBytes>> SidecarFolder::read(const std::string& key) {
    const int folder = open_folder();
    if (folder < 0) {
        return std::nullopt;
    }
    const OwnFd file{kernel::openat(folder, key.c_str(), O_RDONLY | own_file)};
    if (!file.valid()) {
        if (errno == ENOENT) {
            return std::nullopt;
        }
        return failure(system_error(errno, "open the record " + name_ + "/" + key));
    }
    RecordBytes bytes(record_bytes_max);
    const ssize_t got = kernel::pread(file.get(), bytes.data(), bytes.size(), 0);
    if (got < 0) {
        return failure(system_error(errno, "read the record " + name_ + "/" + key));
    }
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

Result<void> SidecarFolder::write(const std::string& key, std::span<const std::byte> bytes) {
    const std::string what = name_ + "/" + key;
    if (open_folder() < 0 && kernel::mkdirat(parent_, name_.c_str(), folder_mode) != 0 &&
        errno != EEXIST) {
        return failure(system_error(errno, "make the folder " + name_));
    }
    {
        const std::lock_guard lock{mutex_};
        missing_ = false;
    }
    const int folder = open_folder();
    if (folder < 0) {
        return failure(system_error(errno, "open the folder " + name_));
    }
    const std::string beside = key + ".new";
    const OwnFd file{
        kernel::openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | own_file, file_mode)};
    if (!file.valid()) {
        return failure(system_error(errno, "write the record " + what));
    }
    if (const int error = adapters::write_whole(file.get(), bytes, 0); error != 0) {
        return failure(system_error(error, "write the record " + what));
    }
    if (auto synced = adapters::sync_file(file.get(), what); !synced) {
        return synced;
    }
    if (kernel::renameat(folder, beside.c_str(), folder, key.c_str()) != 0) {
        return failure(system_error(errno, "write the record " + what));
    }
    return adapters::sync_file(folder, name_);
}

Result<void> SidecarFolder::remove(const std::string& key) {
    const int folder = open_folder();
    if (folder < 0) {
        return {};
    }
    if (kernel::unlinkat(folder, key.c_str(), 0) != 0) {
        return errno == ENOENT
                   ? Result<void>{}
                   : failure(system_error(errno, "remove the record " + name_ + "/" + key));
    }
    return adapters::sync_file(folder, name_);
}

bool SidecarFolder::has(const std::string& key) {
    struct stat found{};
    const int folder = open_folder();
    return folder >= 0 && kernel::fstatat(folder, key.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<std::optional<RecordBytes>> RecordStore::read(const Place& place) {
    auto beside = sidecars_.read(place.key);
    if (!beside || *beside) {
        return beside;
    }
    RecordBytes bytes(record_bytes_max);
    const ssize_t got = ::fgetxattr(place.fd, attribute_, bytes.data(), bytes.size());
    if (got >= 0) {
        bytes.resize(static_cast<std::size_t>(got));
        return bytes;
    }
    if (errno == ENODATA || is_not_kept(errno)) {
        return std::nullopt;
    }
    return failure(system_error(errno, "read the record of " + place.path));
}

Result<void> RecordStore::write(const Place& place, std::span<const std::byte> bytes) {
    if (sidecars_.has(place.key)) {
        return sidecars_.write(place.key, bytes);
    }
    if (::fsetxattr(place.fd, attribute_, bytes.data(), bytes.size(), 0) == 0) {
        return {};
    }
    if (!is_not_kept(errno)) {
        return failure(system_error(errno, "write the record of " + place.path));
    }
    return sidecars_.write(place.key, bytes);
}

Result<void> RecordStore::remove(const Place& place) {
    // The attribute first: it would count again once there is no sidecar.
    if (::fremovexattr(place.fd, attribute_) != 0 && errno != ENODATA && !is_not_kept(errno)) {
        return failure(system_error(errno, "remove the record of " + place.path));
    }
    return sidecars_.remove(place.key);
}

}  // namespace forebay::tier
