// Extended attributes and file creation by libc and system calls.
#include "storage/posix/attributes.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

constexpr std::size_t bytes_usual = 1024;
constexpr std::size_t attribute_bytes_max = 65536;  // the kernel's limit, XATTR_SIZE_MAX
constexpr mode_t mode_of_new_files = 0666;  // before umask; the mode that both MPIs give new files

ports::PathKind kind_of(mode_t mode) noexcept {
    if (S_ISREG(mode)) {
        return ports::PathKind::file;
    }
    return S_ISDIR(mode) ? ports::PathKind::directory : ports::PathKind::other;
}

bool means_none(int system) noexcept {
    return system == ENODATA || system == EOPNOTSUPP || system == ENOTSUP || system == ENOSYS ||
           system == EINVAL;
}

}  // namespace

Result<ports::PathFacts> PosixAttributes::look(const std::string& path) const {
    struct stat found{};
    if (kernel::stat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) {
            return ports::PathFacts{};
        }
        return failure(system_error(errno, "look at " + path));
    }
    ports::PathFacts facts{kind_of(found.st_mode), found.st_size, found.st_dev, 0};
    struct statfs system{};
    if (kernel::statfs(path.c_str(), &system) == 0) {
        facts.file_system = static_cast<std::uint64_t>(system.f_type) & 0xFFFFFFFFU;
    }
    return facts;
}

Result<std::optional<ports::AttributeValue>> PosixAttributes::get(const std::string& path,
                                                                  const char* name) const {
    ports::AttributeValue value(bytes_usual);
    ssize_t got = kernel::getxattr(path.c_str(), name, value.data(), value.size());
    if (got < 0 && errno == ERANGE) {
        value.resize(attribute_bytes_max);
        got = kernel::getxattr(path.c_str(), name, value.data(), value.size());
    }
    if (got < 0 && means_none(errno)) {
        return std::nullopt;
    }
    if (got < 0) {
        return failure(system_error(errno, fmt::format("read {} of {}", name, path)));
    }
    value.resize(static_cast<std::size_t>(got));
    return value;
}

Result<void> PosixAttributes::set(const std::string& path, const char* name,
                                  std::span<const std::byte> value) {
    if (kernel::setxattr(path.c_str(), name, value.data(), value.size(), 0) != 0) {
        return failure(system_error(errno, fmt::format("set {} of {}", name, path)));
    }
    return {};
}

Result<void> PosixAttributes::make_file(const std::string& path) {
    if (::mknod(path.c_str(), S_IFREG | mode_of_new_files, 0) != 0) {
        return failure(system_error(errno, "make " + path));
    }
    return {};
}

Result<void> PosixAttributes::remove_file(const std::string& path) {
    if (kernel::unlink(path.c_str()) != 0) {
        return failure(system_error(errno, "remove " + path));
    }
    return {};
}

}  // namespace forebay::adapters
