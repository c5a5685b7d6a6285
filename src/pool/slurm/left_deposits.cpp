// The daemon's directory is a memfd: /proc/PID/fd leads to it.
#include "pool/slurm/left_deposits.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string_view>
#include <sys/mman.h>

namespace forebay::slurm {

namespace {

struct CloseListing {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

bool is_directory(const std::string& link) noexcept {
    constexpr std::string_view name = "/memfd:forebay-directory";
    std::array<char, 64> target{};
    const ssize_t got = kernel::readlink(link.c_str(), target.data(), target.size());
    return got > 0 &&
           std::string_view(target.data(), static_cast<std::size_t>(got)).starts_with(name);
}

OwnFd open_directory(pid_t daemon) {
    const std::string path = fmt::format("/proc/{}/fd", daemon);
    const std::unique_ptr<DIR, CloseListing> folder{::opendir(path.c_str())};
    while (const dirent* const one = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string link = fmt::format("{}/{}", path, &one->d_name[0]);
        if (is_directory(link)) {
            return OwnFd{kernel::open(link.c_str(), O_RDONLY | O_CLOEXEC)};
        }
    }
    return OwnFd{};
}

// Whether a daemon of our own version, which lays its directory out as we do, has made this.
bool is_ours(int fd, pid_t daemon) noexcept {
    struct stat facts{};
    std::array<std::uint64_t, 2> begins{};  // DirectoryHeader::format and process
    return kernel::fstat(fd, &facts) == 0 &&
           facts.st_size >= static_cast<off_t>(sizeof(pool::Directory)) &&
           kernel::pread(fd, begins.data(), sizeof begins, 0) == sizeof begins &&
           begins[0] == pool::format && begins[1] == static_cast<std::uint64_t>(daemon);
}

bool holds(const pool::FileSlot& slot) noexcept {
    const auto state = slot.state.load(relaxed);
    return state == pool::FileState::pooled || state == pool::FileState::leaving;
}

}  // namespace

DirectoryView DirectoryView::of_daemon(pid_t daemon) {
    const OwnFd fd = open_directory(daemon);
    if (!fd.valid() || !is_ours(fd.get(), daemon)) {
        return DirectoryView{};
    }
    const void* const at =
        kernel::mmap(nullptr, sizeof(pool::Directory), PROT_READ, MAP_SHARED, fd.get(), 0);
    return DirectoryView{at == MAP_FAILED ? nullptr : static_cast<const pool::Directory*>(at)};
}

DirectoryView::~DirectoryView() {
    if (directory_ != nullptr) {
        kernel::munmap(const_cast<pool::Directory*>(directory_), sizeof(pool::Directory));
    }
}

std::vector<LeftDeposit> DirectoryView::outstanding() const {
    std::map<std::string, std::int64_t> files;
    if (directory_ != nullptr) {
        for (const pool::FileSlot& slot : directory_->files) {
            const std::int64_t left = slot.taken.load(relaxed) - slot.drained.load(relaxed);
            if (holds(slot) && left > 0) {
                std::array<char, pool::path_bytes + 1> path{};
                std::ranges::copy(slot.path, path.begin());
                files[path.data()] += left;
            }
        }
    }
    std::vector<LeftDeposit> found;
    for (const auto& [path, bytes] : files) {
        found.push_back({path, bytes});
    }
    return found;
}

}  // namespace forebay::slurm
