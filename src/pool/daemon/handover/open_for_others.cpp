// Identifies files by what file systems say alike on all nodes: device numbers are not among it.
#include "pool/daemon/handover/open_for_others.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "pool/daemon/replay/replay_files.hpp"
#include "storage/layout/files/files.hpp"
#include "storage/layout/stripes.hpp"
#include "storage/posix/attributes.hpp"
#include "storage/posix/storage.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

namespace forebay::daemon {

namespace {

static_assert(sizeof(fsid_t) == sizeof(std::uint64_t));

// nullopt: it is no plain file, or cannot be looked at.
std::optional<protocol::HandedFile> identity_for_others(int fd) {
    struct stat found{};
    struct statfs system{};
    if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) ||
        kernel::fstatfs(fd, &system) != 0) {
        return std::nullopt;
    }
    protocol::HandedFile file{.inode = found.st_ino,
                              .system_type = static_cast<std::uint32_t>(system.f_type),
                              .generation = generation_of(fd)};
    std::memcpy(&file.system_id, &system.f_fsid, sizeof file.system_id);
    struct statx born{};
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &born) == 0 &&
        (born.stx_mask & STATX_BTIME) != 0) {
        constexpr std::int64_t second_ns = 1'000'000'000;
        file.birth_ns = born.stx_btime.tv_sec * second_ns + born.stx_btime.tv_nsec;
    }
    return file;
}

}  // namespace

std::optional<cluster::FileForOthers> file_for_others(const OwnFd& fd, const std::string& place) {
    const auto identity = identity_for_others(fd.get());
    if (!identity || !place.starts_with('/') || place.size() > protocol::offer_path_max) {
        return std::nullopt;
    }
    return cluster::FileForOthers{.identity = *identity, .path = place};
}

Result<cluster::OpenedForOthers> open_for_others(const protocol::HandedFile& identity,
                                                 const std::string& path) {
    OwnFd fd{kernel::open(path.c_str(),
                          O_WRONLY | O_DSYNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)};
    if (!fd.valid()) {
        return failure(system_error(errno, "open for another node " + path));
    }
    if (identity_for_others(fd.get()) != identity) {
        return failure({ErrorCode::argument, ESTALE,
                        fmt::format("cannot open for another node {} (here, it is another file). "
                                    "That node writes it.",
                                    path)});
    }
    struct stat found{};
    const std::int64_t bytes = kernel::fstat(fd.get(), &found) == 0 ? found.st_size : 0;
    const adapters::PosixAttributes files;
    const auto layout = layout::layout_of_file(files, kernel::name_of_descriptor(fd.get()));
    const FileStripes stripes = layout ? layout::stripes_of(*layout, bytes) : FileStripes{};
    return cluster::OpenedForOthers{
        .storage = std::make_unique<adapters::PosixStorage>(std::move(fd), path),
        .stripes = stripes};
}

}  // namespace forebay::daemon
