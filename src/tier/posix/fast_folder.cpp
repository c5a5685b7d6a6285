// A change of names is durable when the folders that it concerns are synced.
#include "tier/posix/fast_folder.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "storage/posix/own_folder.hpp"
#include "storage/posix/storage.hpp"
#include "storage/posix/write_whole.hpp"
#include "tier/posix/tiered_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <utility>

namespace forebay::tier {

namespace {

constexpr mode_t user_only = 0600;
constexpr const char* identity_name = "identity";
constexpr const char* identity_beside = "identity.new";
constexpr std::size_t identity_bytes = sizeof(std::uint64_t) + sizeof(RecordKey);
constexpr int no_link = O_NOFOLLOW | O_CLOEXEC;

Result<OwnFd> folder_in(const std::string& path, const char* name) {
    return adapters::open_own_folder(path + "/" + name);
}

struct CloseFolder {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// Calls `take` for each name in an open folder, in the order of the file system.
Result<void> visit_names(const OwnFd& folder, const std::string& path,
                         const std::function<void(std::string_view)>& take) {
    const int own = kernel::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, CloseFolder> listing{own < 0 ? nullptr : ::fdopendir(own)};
    if (!listing) {
        return failure(system_error(errno, "list " + path));
    }
    while (true) {
        errno = 0;
        const dirent* const entry = ::readdir(listing.get());
        if (entry == nullptr) {
            break;
        }
        take(entry->d_name);
    }
    return errno == 0 ? Result<void>{} : failure(system_error(errno, "list " + path));
}

Result<std::vector<std::string>> list_folder(const OwnFd& folder, const std::string& path) {
    std::vector<std::string> names;
    auto listed = visit_names(folder, path, [&names](std::string_view name) {
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    });
    std::ranges::sort(names);
    return listed ? Result<std::vector<std::string>>{std::move(names)} : failure(listed.error());
}

// Writes a new file durably, but for its name.
Result<void> write_file(const OwnFd& folder, const std::string& name,
                        std::span<const std::byte> bytes, const std::string& path) {
    const OwnFd file{kernel::openat(folder.get(), name.c_str(),
                                    O_WRONLY | O_CREAT | O_TRUNC | no_link, user_only)};
    if (!file.valid()) {
        return failure(system_error(errno, "write " + path + "/" + name));
    }
    if (const int error = adapters::write_whole(file.get(), bytes, 0); error != 0) {
        return failure(system_error(error, "write " + path + "/" + name));
    }
    return adapters::sync_file(file.get(), path + "/" + name);
}

// Returns an errno or 0. Others hold the lock for a moment only, to see whether somebody has it.
int lock_place(int fd) {
    constexpr int tries_max = 10;
    constexpr timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    for (int tries = 1; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
        if (errno != EWOULDBLOCK || tries == tries_max) {
            return errno;
        }
        ::nanosleep(&pause, nullptr);
    }
    return 0;
}

}  // namespace

FastFolder::FastFolder(std::string path, OwnFd folder)
    : path_{std::move(path)},
      folder_{std::move(folder)},
      file_system_{file_system_of(folder_.get())},
      sidecars_{folder_.get(), "records", SidecarWriter::this_process},
      records_{sidecars_, replica_attribute} {}

Result<std::unique_ptr<FastFolder>> FastFolder::open(const std::string& path) {
    auto folder = adapters::open_own_folder(path);
    if (!folder) {
        folder.error().message += " (It is to be fast storage.)";
        return failure(std::move(folder.error()));
    }
    std::unique_ptr<FastFolder> place{new FastFolder{path, std::move(*folder)}};
    auto lock = adapters::open_own_file(place->folder_, lock_name, O_RDWR | O_CREAT);
    if (!lock) {
        return failure(std::move(lock.error()));
    }
    place->lock_ = std::move(*lock);
    if (const int why = lock_place(place->lock_.get()); why != 0) {
        return failure(
            {ErrorCode::access, why,
             fmt::format("cannot use {} ({}). Stop the tier that uses it, or name "
                         "another folder.",
                         path,
                         why == EWOULDBLOCK ? "another process has it" : "it cannot be locked")});
    }
    const std::string boot = boot_of_node();
    if (const int why =
            adapters::write_whole(place->lock_.get(), std::as_bytes(std::span{boot}), 0);
        why != 0) {
        return failure(system_error(why, "write " + path + "/" + lock_name));
    }
    auto ready = place->open_folders().and_then([&] { return place->read_identity(); });
    if (!ready) {
        return failure(std::move(ready.error()));
    }
    return place;
}

void FastFolder::release_lease() noexcept {
    if (owner_ != 0) {  // else another process may have it
        constexpr std::array<timespec, 2> long_ago{};
        static_cast<void>(::futimens(lock_.get(), long_ago.data()));
    }
}

void FastFolder::renew_lease() noexcept { static_cast<void>(::futimens(lock_.get(), nullptr)); }

std::vector<ReplicaName> FastFolder::take_asked() {
    std::vector<ReplicaName> names;
    const auto listed = list_folder(asked_, path_ + "/" + asked_name);
    for (const std::string& text : listed ? *listed : std::vector<std::string>{}) {
        static_cast<void>(kernel::unlinkat(asked_.get(), text.c_str(), 0));
        if (const auto name = parse_replica_name(text)) {
            names.push_back(*name);
        }
    }
    return names;
}

std::string FastFolder::boot_of_node() {
    return kernel::contents("/proc/sys/kernel/random/boot_id").value_or("");
}

std::string FastFolder::boot_in(const OwnFd& lock) {
    std::array<char, 64> bytes{};
    const ssize_t got = kernel::pread(lock.get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::optional<std::uint64_t> FastFolder::owner_of(const std::string& path) {
    struct stat found{};
    if (kernel::fstatat(AT_FDCWD, (path + "/" + identity_name).c_str(), &found,
                        AT_SYMLINK_NOFOLLOW) != 0) {
        return std::nullopt;
    }
    const auto folder = adapters::open_own_folder(path);
    const auto file =
        folder ? adapters::open_own_file(*folder, identity_name, O_RDONLY) : Result<OwnFd>{OwnFd{}};
    std::uint64_t owner = 0;
    return file && file->valid() &&
                   kernel::pread(file->get(), &owner, sizeof owner, 0) == sizeof owner
               ? std::optional{owner}
               : std::nullopt;
}

std::vector<std::string> FastFolder::folders_in(const std::string& path) {
    const OwnFd folder{kernel::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto names = folder.valid() ? list_folder(folder, path) : std::vector<std::string>{};
    std::vector<std::string> folders;
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
        folders.push_back(path + "/" + name);
    }
    return folders;
}

Result<void> FastFolder::open_folders() {
    const std::array wanted{std::pair{&replicas_, "replicas"}, std::pair{&new_, "new"},
                            std::pair{&rescue_, "rescue"}, std::pair{&asked_, asked_name}};
    for (const auto& [fd, name] : wanted) {
        auto opened = folder_in(path_, name);
        if (!opened) {
            return failure(std::move(opened.error()));
        }
        *fd = std::move(*opened);
    }
    return adapters::sync_file(folder_.get(), path_);
}

Result<void> FastFolder::read_identity() {
    const auto file = adapters::open_own_file(folder_, identity_name, O_RDONLY);
    if (!file) {
        return file.error().system == ENOENT ? make_identity() : failure(file.error());
    }
    std::array<std::byte, identity_bytes> bytes{};
    const ssize_t got = kernel::pread(file->get(), bytes.data(), bytes.size(), 0);
    if (got != static_cast<ssize_t>(bytes.size())) {
        return failure(got < 0 ? system_error(errno, "read " + path_ + "/" + identity_name)
                               : Error{ErrorCode::input_output, 0,
                                       fmt::format("cannot use {} (its identity is damaged). Move "
                                                   "the folder away, and keep it: its replicas "
                                                   "may have bytes that are nowhere else.",
                                                   path_)});
    }
    std::memcpy(&owner_, bytes.data(), sizeof owner_);
    std::memcpy(key_.data(), bytes.data() + sizeof owner_, key_.size());
    return {};
}

Result<void> FastFolder::make_identity() {
    std::array<std::byte, identity_bytes> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return failure(system_error(errno, "get random numbers"));
    }
    std::memcpy(&owner_, bytes.data(), sizeof owner_);
    std::memcpy(key_.data(), bytes.data() + sizeof owner_, key_.size());
    auto written = write_file(folder_, identity_beside, bytes, path_);
    if (!written) {
        return written;
    }
    if (kernel::renameat(folder_.get(), identity_beside, folder_.get(), identity_name) != 0) {
        return failure(system_error(errno, "write " + path_ + "/" + identity_name));
    }
    return adapters::sync_file(folder_.get(), path_);
}

std::unique_ptr<TieredFile> FastFolder::file_of(OwnFd fd, const ReplicaName& name) {
    const std::string text = text_of(name);
    return std::make_unique<PosixTieredFile>(
        std::move(fd), records_,
        PosixTieredFile::Options{
            .path = path_ + "/replicas/" + text, .key = text, .file_system = file_system_});
}

Result<std::unique_ptr<TieredFile>> FastFolder::create(const ReplicaName& name) {
    const std::string text = text_of(name);
    if (kernel::unlinkat(new_.get(), text.c_str(), 0) != 0 && errno != ENOENT) {
        return failure(system_error(errno, "remove " + path_ + "/new/" + text));
    }
    // A sidecar that an earlier replica of this name has left.
    if (auto removed = sidecars_.remove(text); !removed) {
        return failure(std::move(removed.error()));
    }
    OwnFd fd{
        kernel::openat(new_.get(), text.c_str(), O_RDWR | O_CREAT | O_EXCL | no_link, user_only)};
    if (!fd.valid()) {
        return failure(system_error(errno, "make " + path_ + "/new/" + text));
    }
    return file_of(std::move(fd), name);
}

Result<void> FastFolder::discard(const ReplicaName& name) {
    const std::string text = text_of(name);
    if (kernel::unlinkat(new_.get(), text.c_str(), 0) != 0 && errno != ENOENT) {
        return failure(system_error(errno, "remove " + path_ + "/new/" + text));
    }
    return sidecars_.remove(text);
}

Result<void> FastFolder::publish(const ReplicaName& name) {
    const std::string text = text_of(name);
    if (kernel::renameat(new_.get(), text.c_str(), replicas_.get(), text.c_str()) != 0) {
        return failure(system_error(errno, "name the replica " + text));
    }
    return adapters::sync_file(replicas_.get(), path_ + "/replicas");
}

Result<std::unique_ptr<TieredFile>> FastFolder::open(const ReplicaName& name) {
    OwnFd fd{kernel::openat(replicas_.get(), text_of(name).c_str(), O_RDWR | no_link)};
    if (!fd.valid()) {
        return errno == ENOENT ? Result<std::unique_ptr<TieredFile>>{nullptr}
                               : failure(system_error(errno, "open the replica " + text_of(name)));
    }
    return file_of(std::move(fd), name);
}

Result<void> FastFolder::remove(const ReplicaName& name) {
    const std::string text = text_of(name);
    if (kernel::unlinkat(replicas_.get(), text.c_str(), 0) != 0 && errno != ENOENT) {
        return failure(system_error(errno, "remove the replica " + text));
    }
    return adapters::sync_file(replicas_.get(), path_ + "/replicas").and_then([&] {
        return sidecars_.remove(text);
    });
}

Result<std::vector<ReplicaName>> FastFolder::names() {
    std::vector<ReplicaName> names;
    auto listed = visit_names(replicas_, path_ + "/replicas", [&names](std::string_view text) {
        if (const auto name = parse_replica_name(text)) {
            names.push_back(*name);
        }
    });
    // In the order of inodes, in which most file systems read them fastest.
    std::ranges::sort(names);
    return listed ? Result<std::vector<ReplicaName>>{std::move(names)} : failure(listed.error());
}

Result<void> FastFolder::remove_unpublished() {
    const auto listed = list_folder(new_, path_ + "/new");
    if (!listed) {
        return failure(listed.error());
    }
    for (const std::string& text : *listed) {
        if (kernel::unlinkat(new_.get(), text.c_str(), 0) != 0) {
            return failure(system_error(errno, "remove " + path_ + "/new/" + text));
        }
    }
    return {};
}

// The note first: rescued bytes without one would be a riddle.
Result<std::string> FastFolder::rescue(const ReplicaName& name, const std::string& note) {
    const std::string text = text_of(name);
    struct stat found{};
    std::string kept;
    for (int number = 1; kept.empty(); ++number) {
        const std::string wanted = fmt::format("{}.{}", text, number);
        const bool taken =
            kernel::fstatat(rescue_.get(), wanted.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
        kept = taken ? "" : wanted;
    }
    auto written =
        write_file(rescue_, kept + ".txt", std::as_bytes(std::span{note}), path_ + "/rescue");
    if (!written) {
        return failure(std::move(written.error()));
    }
    if (kernel::renameat(replicas_.get(), text.c_str(), rescue_.get(), kept.c_str()) != 0) {
        return failure(system_error(errno, "rescue the replica " + text));
    }
    auto durable =
        adapters::sync_file(rescue_.get(), path_ + "/rescue")
            .and_then([&] { return adapters::sync_file(replicas_.get(), path_ + "/replicas"); })
            .and_then([&] { return sidecars_.remove(text); });
    if (!durable) {
        return failure(std::move(durable.error()));
    }
    return path_ + "/rescue/" + kept;
}

}  // namespace forebay::tier
