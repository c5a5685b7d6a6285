// Opens the client's file again through /proc/self/fd. That gives the daemon an open file
// description of its own, so that it does not share flags and file position with the client.
#include "pool/daemon/requests/opening.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "foundation/kernel/local_file_systems.hpp"
#include "pool/daemon/handover/open_for_others.hpp"
#include "pool/daemon/replay/replay_files.hpp"
#include "storage/layout/files/files.hpp"
#include "storage/layout/stripes.hpp"
#include "storage/posix/attributes.hpp"
#include "storage/posix/file_control.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

namespace forebay::daemon {

namespace {

bool may_write(int flags) noexcept { return (flags & O_ACCMODE) != O_RDONLY; }

OwnFd reopen(int fd, int flags) {
    return OwnFd{kernel::open(kernel::name_of_descriptor(fd).c_str(),
                              flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
}

// Whether the file cannot have as many bytes as deposits may give it. lseek() refuses offsets
// beyond the file system's longest file, and asks no server; what fpathconf(_PC_FILESIZEBITS) says
// is guessed by the C library.
bool is_kept_short(const OwnFd& fd) noexcept {
    return kernel::lseek(fd.get(), pool::deposit_end_max, SEEK_SET) < 0 && errno == EINVAL;
}

struct FileForWriting {
    OwnFd fd{};
    bool is_short = false;  // is_kept_short()
};

// Opens the file for writing. A file whose mode forbids writing (git's objects) can still be
// written through the descriptor that created it; such a descriptor is duplicated instead. It
// shares its offset with the client, and so is not asked for the longest file.
FileForWriting reopen_for_writing(const OwnFd& received, int flags) {
    for (const int mode : {O_RDWR, O_WRONLY}) {
        OwnFd fd = reopen(received.get(), mode);
        if (fd.valid()) {
            const bool is_short = is_kept_short(fd);
            return {.fd = std::move(fd), .is_short = is_short};
        }
        if (errno != EACCES && errno != EPERM) {
            return {};
        }
    }
    if ((flags & (O_APPEND | O_DIRECT | O_PATH)) != 0) {
        errno = EACCES;  // O_APPEND ignores the offset, and O_DIRECT wants aligned memory
        return {};
    }
    return {.fd = OwnFd{::fcntl(received.get(), F_DUPFD_CLOEXEC, 0)}};
}

FileStripes stripes_of(const OwnFd& fd, std::int64_t bytes) {
    const adapters::PosixAttributes files;
    const auto layout = layout::layout_of_file(files, kernel::name_of_descriptor(fd.get()));
    return layout ? layout::stripes_of(*layout, bytes) : FileStripes{};
}

// Opens for reading by duplicating `from` where it can read, because the daemon's own thread calls
// this and must not wait for the file system.
std::unique_ptr<ports::FileStorage> open_for_reading(int from, const std::string& path,
                                                     adapters::StoragePreference preference) {
    const int flags = ::fcntl(from, F_GETFL);
    const bool may_read = flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
    OwnFd fd = may_read ? OwnFd{::fcntl(from, F_DUPFD_CLOEXEC, 0)} : reopen(from, O_RDONLY);
    if (!fd.valid()) {
        return nullptr;
    }
    auto storage =
        adapters::storage_of(std::move(fd), path, preference, adapters::SubmitterKind::never_waits);
    return storage ? std::move(*storage) : nullptr;
}

// How long over_within() yields the core before it sleeps. Opening a file that is open already
// takes a few microseconds where no server is asked.
constexpr std::chrono::nanoseconds looks{50'000};

// The number of the mount that an open file belongs to; 0: not known. name_to_handle_at() gives it
// together with a file handle, without asking a server. There is no room for the handle here, so
// EOVERFLOW is the usual result.
std::uint64_t mount_of(int fd) noexcept {
    file_handle none{};
    int mount = 0;
    const bool said =
        ::name_to_handle_at(fd, "", &none, &mount, AT_EMPTY_PATH) == 0 || errno == EOVERFLOW;
    return said ? static_cast<std::uint64_t>(mount) : 0;
}

// A file without storage: the pool knows it, but can neither drain it nor read it ahead, unless
// another open of the same file brings storage.
pool::DaemonFile only_known(const OwnFd& received, const struct stat& found,
                            const std::string& path) {
    pool::DaemonFile file;
    file.identity = {found.st_dev, found.st_ino};
    file.path = path;
    file.place = kernel::path_of_descriptor(received.get());
    file.stamp = adapters::stamp_of(found);
    return file;
}

// Makes the directory entry of a newly created file durable: fsync of the file and of its
// directory. Returns an errno, or 0.
int make_name_durable(int fd, const std::string& place) {
    const std::string folder = place.substr(0, place.rfind('/') + 1);
    const OwnFd above{kernel::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const bool done = kernel::fsync(fd) == 0 && above.valid() && kernel::fsync(above.get()) == 0;
    return done ? 0 : errno;
}

}  // namespace

pool::AccessMode access_of(const OwnFd& received, bool writes) {
    if (!writes) {
        return pool::AccessMode::read;
    }
    const int flags = ::fcntl(received.get(), F_GETFL);
    return (flags & O_ACCMODE) == O_RDWR ? pool::AccessMode::both : pool::AccessMode::write;
}

Result<pool::DaemonFile> open_again(const OwnFd& received, const OpenWish& wish,
                                    adapters::StoragePreference preference) {
    struct stat found{};
    const int flags = ::fcntl(received.get(), F_GETFL);
    if (flags < 0 || kernel::fstat(received.get(), &found) != 0) {
        return failure(system_error(errno, "look at " + wish.path));
    }
    if (!S_ISREG(found.st_mode) || (flags & O_PATH) != 0) {
        return failure({ErrorCode::unsupported, EINVAL,
                        fmt::format("cannot pool {} (it is no plain file). It is written "
                                    "directly.",
                                    wish.path)});
    }
    const bool writes = wish.access != pool::AccessMode::read;
    if (writes && !may_write(flags)) {
        return failure({ErrorCode::argument, EBADF,
                        fmt::format("cannot pool {} (its descriptor may not write). Open it for "
                                    "writing.",
                                    wish.path)});
    }
    if (wish.only_known) {
        return only_known(received, found, wish.path);
    }
    auto [fd, is_short] = writes ? reopen_for_writing(received, flags)
                                 : FileForWriting{.fd = reopen(received.get(), O_RDONLY)};
    if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) {
        return only_known(received, found, wish.path);
    }
    // fstat once more: the open may have taken long, and the file may have changed meanwhile.
    if (!fd.valid() || kernel::fstat(fd.get(), &found) != 0) {
        return failure(system_error(errno, "open once more " + wish.path));
    }
    pool::DaemonFile file;
    file.identity = {found.st_dev, found.st_ino};
    file.stripes = stripes_of(fd, found.st_size);
    file.path = wish.path;
    file.place = kernel::path_of_descriptor(fd.get());
    file.generation = generation_of(fd.get());
    if (writes && wish.durable_name && found.st_size == 0) {
        if (const int error = make_name_durable(fd.get(), file.place); error != 0) {
            return failure(system_error(error, "make durable the name of " + wish.path));
        }
    }
    file.stamp = adapters::stamp_of(found);
    file.has_short_files = is_short;
    // `file.storage` or `file.control` owns this descriptor, and lives as long as the file is open.
    // The other uses share it, because descriptors are scarce.
    const int shared = fd.get();
    file.open_for_reading = [shared, path = wish.path, preference](const auto& /*seen*/) {
        return open_for_reading(shared, path, preference);
    };
    if (writes) {
        auto storage = adapters::storage_of(std::move(fd), wish.path, preference,
                                            adapters::SubmitterKind::never_waits);
        if (!storage) {
            return failure(std::move(storage.error()));
        }
        file.storage = std::move(*storage);
        file.control = std::make_unique<adapters::PosixFileControl>(shared);
    } else {
        file.control = std::make_unique<adapters::PosixFileControl>(std::move(fd));
    }
    return file;
}

std::uint64_t FileOpening::mount() const noexcept {
    return received_.valid() ? mount_of(received_.get()) : mount_;
}

void FileOpening::run() {
    expects(received_.valid() && !file_, "a file is opened once");
    Result<pool::DaemonFile> file = open_again(received_, wish_, preference_);
    struct statfs system{};
    // Which may hang, as the open may.
    if (file && kernel::fstatfs(received_.get(), &system) == 0) {
        file->local = kernel::is_local(system);
        file->room = adapters::room_of(system);
        const bool hands_over =
            wish_.hands_over == OpenWish::HandsOver::anywhere ||
            (wish_.hands_over == OpenWish::HandsOver::where_safe && kernel::is_coherent(system));
        if (hands_over && file->storage) {
            for_others_ = file_for_others(received_, file->place);
        }
    }
    mount_ = mount();
    received_ = OwnFd{};
    file_.emplace(std::move(file));
    {
        const std::scoped_lock lock{mutex_};
        over_.store(true, std::memory_order_release);
    }
    news_.notify_one();
}

Result<pool::DaemonFile> FileOpening::take() {
    expects(over_.load(std::memory_order_acquire) && file_.has_value(),
            "a file is taken when it is open, or when it is known why not");
    return std::move(*file_);
}

bool FileOpening::over_within(std::chrono::nanoseconds time, CoreYielding& yielding) {
    using std::chrono::steady_clock;
    const auto over = [this] { return over_.load(std::memory_order_acquire); };
    const auto until = steady_clock::now() + std::min(time, looks);
    while (!over() && yielding.pays() && steady_clock::now() < until) {
        yielding.yield();
    }
    std::unique_lock lock{mutex_};
    return news_.wait_for(lock, time, over);
}

}  // namespace forebay::daemon
