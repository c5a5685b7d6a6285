// Reads and replaces the notebook's file, and identifies file systems.
#include "storage/posix/notebook_file.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/own_files.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/vfs.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

constexpr std::size_t notebook_bytes_max = 1 << 20;

// Ignores errors: opening the file then fails and reports them.
void make_folders_of(const std::string& path) {
    constexpr mode_t user_only = 0700;
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
        kernel::mkdir(path.substr(0, end).c_str(), user_only);
    }
}

}  // namespace

// The content is trusted, so the file must be the user's own.
Result<std::string> NotebookFile::read() {
    const OwnFd file{kernel::open_own(path_.c_str(), O_RDONLY)};
    if (!file.valid() && errno == ENOENT) {
        return std::string();
    }
    std::optional<std::string> text;
    if (file.valid()) {
        text = kernel::contents(fmt::format("/proc/self/fd/{}", file.get()), notebook_bytes_max);
    }
    if (!text) {
        return failure(system_error(errno, "read " + path_));
    }
    return std::move(*text);
}

Result<void> NotebookFile::write(const std::string& text) {
    make_folders_of(path_);
    const std::string beside = fmt::format("{}.{}", path_, ::getpid());
    constexpr mode_t everyone_reads = 0644;
    kernel::unlink(beside.c_str());  // left by a killed process with the same number
    const OwnFd file(kernel::open_own(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL, everyone_reads));
    if (!file.valid()) {
        return failure(system_error(errno, "write " + beside));
    }
    const ssize_t got = kernel::write(file.get(), text.data(), text.size());
    const bool whole = got == static_cast<ssize_t>(text.size());
    if (!whole || kernel::rename(beside.c_str(), path_.c_str()) != 0) {
        const int why = got >= 0 && !whole ? ENOSPC : errno;
        kernel::unlink(beside.c_str());
        return failure(system_error(why, "write " + path_));
    }
    return {};
}

Result<std::string> file_system_of(const std::string& path) {
    struct statfs found{};
    if (kernel::statfs(path.c_str(), &found) != 0) {
        return failure(system_error(errno, "look at the file system of " + path));
    }
    std::array<unsigned, 2> number{};
    static_assert(sizeof number == sizeof found.f_fsid);
    std::memcpy(number.data(), &found.f_fsid, sizeof number);
    return fmt::format("{:x}-{:08x}{:08x}", static_cast<unsigned long>(found.f_type), number[0],
                       number[1]);
}

}  // namespace forebay::adapters
