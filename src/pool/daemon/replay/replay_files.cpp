// Finds the file that a replay is to write to, and opens it only if it is a regular file whose name
// leads there without symbolic links.
#include "pool/daemon/replay/replay_files.hpp"

#include "foundation/base/folder_path.hpp"
#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "storage/posix/file_control.hpp"
#include "storage/posix/write_whole.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <utility>

namespace forebay::daemon {

namespace {

using pool::journal::FoundFile;
using pool::journal::ReplayPlan;

class OpenedReplayFile final : public pool::ReplayFile {
public:
    explicit OpenedReplayFile(OwnFd fd) : fd_{std::move(fd)} {}

    [[nodiscard]] FoundFile found() const override {
        struct stat is{};
        if (kernel::fstat(fd_.get(), &is) != 0) {
            return {};
        }
        return {.device = is.st_dev,
                .inode = is.st_ino,
                .generation = generation_of(fd_.get()),
                .stamp = adapters::stamp_of(is)};
    }
    [[nodiscard]] int set_length(Length bytes) override {
        return kernel::ftruncate(fd_.get(), bytes.bytes()) == 0 ? 0 : errno;
    }
    [[nodiscard]] int write(Offset at, std::span<const std::byte> bytes) override {
        return adapters::write_whole(fd_.get(), bytes, at.bytes());
    }
    [[nodiscard]] int sync() override { return kernel::fsync(fd_.get()) == 0 ? 0 : errno; }
    [[nodiscard]] Length length() override {
        struct stat is{};
        return Length{kernel::fstat(fd_.get(), &is) == 0 ? is.st_size : 0};
    }

private:
    OwnFd fd_;
};

// Opens a file for reading and writing, but only a regular file: opening a FIFO or a device may
// block or have side effects. The journal's paths were resolved by the kernel when the file was
// opened in the pool; so a symbolic link on the path was put there since then, and is not followed.
// Sets `error` to 0, to an errno, or, where the path leads to something that is not a regular file
// or passes through a link, to ENOENT: the file that was meant is not there.
OwnFd open_plain(const std::string& path, int& error) {
    struct stat is{};
    if (kernel::stat(path.c_str(), &is) != 0) {
        error = errno;
        return OwnFd{};
    }
    if (!S_ISREG(is.st_mode)) {
        error = ENOENT;
        return OwnFd{};
    }
    OwnFd fd{kernel::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)};
    error = fd.valid() ? 0 : errno;
    if (error == ELOOP || (fd.valid() && kernel::path_of_descriptor(fd.get()) != path)) {
        error = ENOENT;
        return OwnFd{};
    }
    return fd;
}

// True when the open file has the device and inode number that the journal recorded.
bool is_the_one(const OwnFd& fd, const ReplayPlan& replay_plan) {
    struct stat is{};
    return fd.valid() && kernel::fstat(fd.get(), &is) == 0 &&
           is.st_dev == replay_plan.facts.device && is.st_ino == replay_plan.facts.inode;
}

// Looks in the same directory for the recorded inode under another name, since many programs write
// a temporary file and then rename it. Not valid: it is not there.
OwnFd look_beside(const ReplayPlan& replay_plan) {
    const std::size_t slash = replay_plan.path.rfind('/');
    if (slash == std::string::npos) {
        return OwnFd{};
    }
    const std::string folder = replay_plan.path.substr(0, slash + 1);
    const std::unique_ptr<DIR, int (*)(DIR*)> list{::opendir(folder.c_str()), ::closedir};
    while (const dirent* const entry = list ? ::readdir(list.get()) : nullptr) {
        if (entry->d_ino == replay_plan.facts.inode) {
            int error = 0;
            OwnFd fd = open_plain(folder + entry->d_name, error);
            if (is_the_one(fd, replay_plan)) {
                return fd;
            }
        }
    }
    return OwnFd{};
}

}  // namespace

std::uint64_t generation_of(int fd) noexcept {
    long version = 0;
    return ::ioctl(fd, FS_IOC_GETVERSION, &version) == 0 ? static_cast<std::uint32_t>(version) : 0;
}

bool StoredReplayFiles::may_be_written(const ReplayPlan& replay_plan) const {
    const std::string_view path = replay_plan.path;
    if (below_.empty()) {
        return true;
    }
    const bool is_plain =
        path.starts_with('/') && (std::string{path} + "/").find("/../") == std::string::npos;
    return is_plain && std::ranges::any_of(below_, [&](std::string_view folder) {
               return FolderPath{folder.substr(0, folder.find_last_not_of('/') + 1)}.holds(path);
           });
}

// If the inode at the path is another one, and the recorded one is not beside it either, the file
// at the path is returned all the same: judge() then sees that it is another one (Verdict::other),
// and the user is told so. Null: no regular file is there.
Result<std::unique_ptr<pool::ReplayFile>> StoredReplayFiles::find(const ReplayPlan& replay_plan) {
    int error = 0;
    OwnFd fd = open_plain(replay_plan.path, error);
    if (!is_the_one(fd, replay_plan)) {
        if (OwnFd beside = look_beside(replay_plan); beside.valid()) {
            return std::make_unique<OpenedReplayFile>(std::move(beside));
        }
    }
    if (fd.valid()) {
        return std::make_unique<OpenedReplayFile>(std::move(fd));
    }
    if (error == ENOENT || error == ENOTDIR) {
        return std::unique_ptr<pool::ReplayFile>{};
    }
    return failure(system_error(error, "open " + replay_plan.path));
}

Result<std::string> StoredReplayFiles::keep(const ReplayPlan& replay_plan, int error) {
    std::vector<RescueRun> runs;
    for (const pool::journal::JournalRun& run : replay_plan.runs) {
        runs.push_back({run.at.bytes(), run.bytes});
    }
    const RescuedFile kept = rescue_.keep({.path = replay_plan.path,
                                           .device = replay_plan.facts.device,
                                           .inode = replay_plan.facts.inode,
                                           .error = error},
                                          runs);
    if (kept.file.empty()) {
        return failure({ErrorCode::input_output, EIO,
                        "cannot keep " + std::to_string(kept.bytes) + " bytes of " +
                            replay_plan.path + " that the journal has (" + kept.problem +
                            "). They stay in the journal; start again when that is mended."});
    }
    return kept.file;
}

}  // namespace forebay::daemon
