// Opens /dev/fuse and mounts here, not in libfuse, which chooses a method by itself and hardly
// reports why it failed.
#include "pool/mount/serving/fuse_device.hpp"

#include "pool/mount/serving/mount_helper.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace forebay::mount {

namespace {

constexpr const char* device_path = "/dev/fuse";
constexpr const char* type = "fuse.forebay";

Error no_device(const std::string& directory, int error) {
    const bool missing = error == ENOENT || error == ENODEV || error == ENXIO;
    if (!missing && error != EACCES && error != EPERM) {
        return system_error(error, fmt::format("open {} to mount over {}", device_path, directory));
    }
    return {ErrorCode::access, error,
            fmt::format("cannot mount over {} ({}). Have root {}.", directory,
                        missing ? "there is no /dev/fuse" : "you may not open /dev/fuse",
                        missing ? "load the module fuse, or give the device to this container"
                                : "give it the mode 0666, which it has on most machines")};
}

Error refused(const std::string& directory, int error) {
    if (error != EPERM) {
        return system_error(error, "mount over " + directory);
    }
    return {ErrorCode::access, error,
            fmt::format("cannot mount over {} (this process may not mount: a container, or a "
                        "security module, forbids it). Allow it, or say "
                        "`--set pool_mount=never`.",
                        directory)};
}

Result<OwnFd> mount_directly(const MountRequest& request) {
    const std::string& directory = request.directory;
    struct stat found{};
    if (::stat(directory.c_str(), &found) != 0) {
        return failure(system_error(errno, "mount over " + directory));
    }
    OwnFd device{::open(device_path, O_RDWR | O_CLOEXEC)};
    if (!device.valid()) {
        return failure(no_device(directory, errno));
    }
    const std::string options =
        fmt::format("fd={},rootmode={:o},user_id={},group_id={},default_permissions{}",
                    device.get(), found.st_mode & S_IFMT, ::geteuid(), ::getegid(),
                    request.allow_other ? ",allow_other" : "");
    if (::mount(request.name.c_str(), directory.c_str(), type, 0, options.c_str()) != 0) {
        return failure(refused(directory, errno));
    }
    return device;
}

}  // namespace

Result<OwnFd> mount_fuse(const MountRequest& request) {
    if (request.has_privileges) {
        return mount_directly(request);
    }
    return mount_by_helper(request.directory,
                           fmt::format("fsname={},subtype=forebay,default_permissions{}",
                                       request.name, request.allow_other ? ",allow_other" : ""));
}

bool prune_inodes(int device, std::span<const std::uint64_t> numbers) {
    struct Notification {
        std::uint32_t bytes;
        std::int32_t code;
        std::uint64_t request;  // 0: no request is answered
        std::uint32_t count;
        std::uint32_t padding;
        std::uint64_t spare;
    };
    constexpr std::int32_t prune = 9;
    Notification header{
        .bytes = static_cast<std::uint32_t>(sizeof(Notification) + numbers.size_bytes()),
        .code = prune,
        .request = 0,
        .count = static_cast<std::uint32_t>(numbers.size()),
        .padding = 0,
        .spare = 0};
    // writev() only reads what it is given.
    const std::array<iovec, 2> parts{
        iovec{&header, sizeof header},
        iovec{const_cast<std::uint64_t*>(numbers.data()), numbers.size_bytes()}};
    return ::writev(device, parts.data(), static_cast<int>(parts.size())) >= 0 ||
           (errno != EINVAL && errno != ENOSYS);
}

}  // namespace forebay::mount
