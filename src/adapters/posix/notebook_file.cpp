// See notebook_file.hpp.
#include "adapters/posix/notebook_file.hpp"

#include "base/own_fd.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

constexpr std::size_t bytes_max = 1 << 20;

}  // namespace

Result<std::string> NotebookFile::read() {
    const OwnFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        return errno == ENOENT ? Result<std::string>{std::string()}
                               : failure(system_error(errno, "read " + path_));
    }
    std::string text;
    std::array<char, 4096> part{};
    while (text.size() < bytes_max) {
        const ssize_t got = ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno != EINTR) {
            return failure(system_error(errno, "read " + path_));
        }
        if (got == 0) {
            break;
        }
        text.append(part.data(), static_cast<std::size_t>(got > 0 ? got : 0));
    }
    return text;
}

Result<void> NotebookFile::write(const std::string& text) {
    std::error_code ignored;  // the open says what is wrong
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    const std::string beside = fmt::format("{}.{}", path_, ::getpid());
    constexpr mode_t everyone_reads = 0644;
    const OwnFd file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone_reads));
    if (!file.valid()) {
        return failure(system_error(errno, "write " + beside));
    }
    const ssize_t got = ::write(file.get(), text.data(), text.size());
    const bool whole = got == static_cast<ssize_t>(text.size());
    if (!whole || std::rename(beside.c_str(), path_.c_str()) != 0) {
        const int why = got >= 0 && !whole ? ENOSPC : errno;
        ::unlink(beside.c_str());
        return failure(system_error(why, "write " + path_));
    }
    return {};
}

Result<std::string> file_system_of(const std::string& path) {
    struct statfs found{};
    if (::statfs(path.c_str(), &found) != 0) {
        return failure(system_error(errno, "look at the file system of " + path));
    }
    std::array<unsigned, 2> number{};
    static_assert(sizeof number == sizeof found.f_fsid);
    std::memcpy(number.data(), &found.f_fsid, sizeof number);
    return fmt::format("{:x}-{:08x}{:08x}", static_cast<unsigned long>(found.f_type), number[0],
                       number[1]);
}

}  // namespace forebay::adapters
