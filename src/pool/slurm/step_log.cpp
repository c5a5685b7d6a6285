// Opened with the user's permissions: see FilesAsUser.
#include "pool/slurm/step_log.hpp"

#include "foundation/base/host_name.hpp"
#include "foundation/base/own_fd.hpp"
#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace forebay::slurm {

namespace {

constexpr mode_t log_mode = 0600;  // it has names of files

bool append(const std::string& path, std::string_view text) {
    const OwnFd file{kernel::open(
        path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
        log_mode)};
    struct stat facts{};
    if (!file.valid() || kernel::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return false;
    }
    while (!text.empty()) {
        const ssize_t some = kernel::write(file.get(), text.data(), text.size());
        if (some <= 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(some, 0)));
    }
    return kernel::fsync(file.get()) == 0;
}

}  // namespace

StepName step_name(std::uint32_t job, std::uint32_t step) {
    return {fmt::format("{}.{}", job, step), host_name()};
}

std::vector<std::string> lines_of_kill(const KeeperEnd& end, const StepName& name) {
    if (end.status >= 0) {
        return {
            fmt::format("forebay: the pool of step {} on {} has not said what became of the "
                        "files: `forebay run` ended with status {}. Look whether they are whole.",
                        name.step, name.host, end.status)};
    }
    std::vector<std::string> lines{fmt::format(
        "forebay: the pool of step {} on {} was killed before it had said that all is in the files "
        "(by scancel, the time limit or the memory limit).",
        name.step, name.host)};
    for (const LeftDeposit& one : end.lost) {
        lines.push_back(fmt::format("LOST: {} bytes of {}", one.bytes, printable_name(one.path)));
    }
    if (!end.is_lost_known) {
        lines.emplace_back("What the tasks wrote last may be lost; of which files, is not known.");
    } else if (end.lost.empty()) {
        lines.emplace_back("All that it had taken was in the files.");
    } else {
        lines.emplace_back("At least that; a file on each line. Write these files again.");
    }
    return lines;
}

std::string write_log(const StepName& name, std::span<const std::string> folders,
                      const std::string& text, const UserIdentity& identity) {
    const FilesAsUser as_user{identity};
    if (as_user.holds()) {
        for (const std::string& folder : folders) {
            std::string path = fmt::format("{}/forebay-{}-{}.log", folder, name.step, name.host);
            if (!folder.empty() && append(path, text)) {
                return path;
            }
        }
    }
    return "";
}

}  // namespace forebay::slurm
