// Files are opened by their path, and told by their inode: what a path leads to may have changed.
#include "tier/posix/global_folder.hpp"

#include "foundation/base/folder_path.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "tier/posix/tiered_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>

namespace forebay::tier {

GlobalFolder::GlobalFolder(OwnFd folder, std::string path)
    : folder_{std::move(folder)},
      path_{std::move(path)},
      sidecars_{folder_.get(), sidecar_name},
      records_{sidecars_, marker_attribute} {}

Result<std::unique_ptr<GlobalFolder>> GlobalFolder::open(const std::string& path) {
    OwnFd folder{kernel::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.valid()) {
        return failure(system_error(errno, "open the folder " + path));
    }
    std::string real = kernel::path_of_descriptor(folder.get());
    if (real.empty()) {
        return failure(system_error(errno, "find the path of " + path));
    }
    return std::unique_ptr<GlobalFolder>{new GlobalFolder{std::move(folder), std::move(real)}};
}

std::string GlobalFolder::path_from_start(std::string path) const {
    if (FolderPath{path_}.holds(path)) {
        return path;
    }
    const std::string now = kernel::path_of_descriptor(folder_.get());
    return !now.empty() && FolderPath{now}.holds(path) ? path_ + path.substr(now.size()) : path;
}

Result<GlobalFolder::NamedFile> GlobalFolder::open_named(const std::string& path) {
    // Never by a whole path that leads to this folder: this process may serve a mount over it.
    const std::string known = path_from_start(path);
    // It ends where the path does, so it ends with a zero.
    const char* const name = FolderPath{path_}.name_of(known).value_or(known).data();
    // A FIFO would block an open that waits.
    return name_open_file(
        OwnFd{kernel::openat(folder_.get(), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)},
        path);
}

Result<GlobalFolder::NamedFile> GlobalFolder::open_again(int fd, const std::string& path) {
    return name_open_file(OwnFd{kernel::open(kernel::name_of_descriptor(fd).c_str(),
                                             O_RDWR | O_NONBLOCK | O_CLOEXEC)},
                          path);
}

Result<std::optional<std::vector<std::byte>>> GlobalFolder::record_of(int fd,
                                                                      const ReplicaName& name) {
    return records_.read({.fd = fd, .key = text_of(name), .path = path_});
}

void GlobalFolder::forget(const ReplicaName& name) {
    static_cast<void>(sidecars_.remove(text_of(name)));
}

Result<GlobalFolder::NamedFile> GlobalFolder::name_open_file(OwnFd fd, const std::string& path) {
    struct stat found{};
    if (!fd.valid() || kernel::fstat(fd.get(), &found) != 0) {
        return failure(system_error(errno, "open " + path));
    }
    if (!S_ISREG(found.st_mode)) {
        return failure({ErrorCode::argument, EINVAL,
                        fmt::format("cannot use {} (it is no regular file). Name a file.", path)});
    }
    const ReplicaName name{number_of(fd.get(), found.st_dev), found.st_ino};
    return NamedFile{name, std::make_unique<PosixTieredFile>(
                               std::move(fd), records_,
                               PosixTieredFile::Options{.path = path,
                                                        .key = text_of(name),
                                                        .file_system = name.file_system,
                                                        .striped = true})};
}

std::uint64_t GlobalFolder::number_of(int fd, dev_t device) {
    {
        const std::lock_guard lock{mutex_};
        if (const auto known = systems_.find(device); known != systems_.end()) {
            return known->second;
        }
    }
    const std::uint64_t number = file_system_of(fd);
    const std::lock_guard lock{mutex_};
    systems_[device] = number;
    return number;
}

Result<std::unique_ptr<TieredFile>> GlobalFolder::open(const std::string& path,
                                                       const ReplicaName& name) {
    auto named = open_named(path);
    if (!named) {
        const int why = named.error().system;
        const bool another = why == ENOENT || why == ENOTDIR || why == ELOOP || why == EINVAL ||
                             why == EISDIR || why == ENXIO;
        return another ? Result<std::unique_ptr<TieredFile>>{nullptr}
                       : failure(std::move(named.error()));
    }
    return named->name == name ? std::move(named->file) : nullptr;
}

}  // namespace forebay::tier
