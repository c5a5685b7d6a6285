// Lists, maps, writes and removes the journal's segments, which are files of a directory. A segment
// is written with O_DIRECT if the file system allows it, past the page cache. Durability comes from
// O_DSYNC or fdatasync in any case, because the disk has a cache, too. A new segment is filled with
// zeros once; otherwise each sync would have to record newly written extents in the file system's
// metadata.
#include "storage/posix/journal_folder.hpp"

#include "foundation/base/error_number.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "storage/posix/own_folder.hpp"
#include "storage/posix/write_whole.hpp"

#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <memory>
#include <string_view>
#include <utility>

namespace forebay::adapters {

namespace {

constexpr std::string_view prefix = "segment-";
constexpr std::string_view key_name = "key";
constexpr mode_t others_read = 0077;
constexpr std::size_t zeros_bytes = std::size_t{1} << 20;

tl::unexpected<Error> refuse(const std::string& path, std::string_view why) {
    return failure({ErrorCode::unsupported, 0,
                    fmt::format("cannot keep a journal in {} ({}). Name a folder on a local disk "
                                "by pool_journal.",
                                path, why)});
}

// The upper directory of the overlay that the folder is in, which receives writes. Empty: not
// known.
std::string upper_folder(const struct stat& folder) {
    const std::string mounts = kernel::contents("/proc/self/mountinfo").value_or("");
    const std::string device = fmt::format(" {}:{} ", major(folder.st_dev), minor(folder.st_dev));
    const std::size_t line = mounts.find(device);
    if (line == std::string::npos) {
        return {};
    }
    const std::string_view rest =
        std::string_view{mounts}.substr(line, mounts.find('\n', line) - line);
    constexpr std::string_view key = "upperdir=";
    const std::size_t at = rest.find(key);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view value = rest.substr(at + key.size());
    return std::string{value.substr(0, value.find_first_of(", "))};
}

// Why files there do not outlive the node; empty: they do.
std::string_view why_not(const struct statfs& found, const struct stat& folder) {
    switch (static_cast<unsigned long>(found.f_type)) {
        case TMPFS_MAGIC: return "it is on tmpfs, which is memory: nothing of it outlives the node";
        case RAMFS_MAGIC: return "it is on ramfs, which is memory: nothing of it outlives the node";
        case HUGETLBFS_MAGIC: return "it is on hugetlbfs, which is memory";
        case OVERLAYFS_SUPER_MAGIC: break;
        default: return {};
    }
    struct statfs upper{};
    const std::string below = upper_folder(folder);
    if (below.empty() || kernel::statfs(below.c_str(), &upper) != 0 ||
        upper.f_type == OVERLAYFS_SUPER_MAGIC) {
        return "it is on an overlay, and what lies below that cannot be seen";
    }
    return upper.f_type == TMPFS_MAGIC || upper.f_type == RAMFS_MAGIC
               ? "it is on an overlay over tmpfs, which is memory"
               : std::string_view{};
}

// Whether O_DSYNC is known to be as good as fdatasync: one call, and one disk request that bypasses
// its cache (FUA) if the disk can.
bool syncs_by_writing(const struct statfs& found) {
    const auto type = static_cast<unsigned long>(found.f_type);
    return type == EXT4_SUPER_MAGIC || type == kernel::xfs_magic;
}

std::optional<std::uint32_t> number_of(std::string_view name) {
    std::uint32_t number = 0;
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    name.remove_prefix(prefix.size());
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == name.data() + name.size();
    return whole && number != ports::JournalDevice::head ? std::optional{number} : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<JournalFolder>> JournalFolder::open(const std::string& path,
                                                           std::int64_t segment_bytes) {
    auto own = open_own_folder(path);
    if (!own) {
        own.error().message += " (It is to be the journal's, by pool_journal.)";
        return failure(std::move(own.error()));
    }
    OwnFd folder = std::move(*own);
    struct statfs system{};
    struct stat found{};
    if (kernel::fstatfs(folder.get(), &system) != 0 || kernel::fstat(folder.get(), &found) != 0) {
        return failure(system_error(errno, "look at the journal's folder " + path));
    }
    if (const std::string_view why = why_not(system, found); !why.empty()) {
        return refuse(path, why);
    }
    auto lock = open_own_file(folder, "lock", O_RDWR | O_CREAT);
    if (!lock) {
        lock.error().message += " (It is in the journal's folder " + path + ".)";
        return failure(std::move(lock.error()));
    }
    if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return refuse(path,
                          "another daemon has it; where several see one folder, %h in its name is "
                          "the host, and %n the node's number");
        }
        return failure(system_error(errno, "lock the journal's folder " + path));
    }
    OwnFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!bell.valid()) {
        return failure(system_error(errno, "make an eventfd"));
    }
    const Sync sync = syncs_by_writing(system) ? Sync::by_each_write : Sync::by_fdatasync;
    std::unique_ptr<JournalFolder> made{new JournalFolder{path, segment_bytes, std::move(folder),
                                                          std::move(*lock), std::move(bell), sync}};
    if (auto known = made->find_key(); !known) {
        return failure(std::move(known.error()));
    }
    return made;
}

JournalFolder::JournalFolder(std::string path, std::int64_t segment_bytes, OwnFd folder, OwnFd lock,
                             OwnFd bell, Sync sync)
    : path_{std::move(path)},
      segment_bytes_{segment_bytes},
      folder_{std::move(folder)},
      lock_{std::move(lock)},
      bell_{std::move(bell)},
      sync_{sync},
      writes_{bell_.get()},
      adds_{bell_.get()} {}

// The key is stored beside the segments, because it is needed wherever these are: after a crash,
// the user's home directory may be another one.
Result<void> JournalFolder::find_key() {
    auto file = open_own_file(folder_, std::string{key_name}, O_RDONLY);
    if (!file && file.error().system == ENOENT) {
        struct stat head_file{};
        if (kernel::fstatat(folder_.get(), "head", &head_file, AT_SYMLINK_NOFOLLOW) == 0) {
            return failure({ErrorCode::input_output, EIO,
                            fmt::format("cannot use the journal {} (its key is gone, without which "
                                        "nobody can tell who wrote it). Keep its folder, and name "
                                        "another one.",
                                        path_)});
        }
        if (const int error = make_key(); error != 0) {
            return failure(system_error(error, "make the key of the journal " + path_));
        }
        return {};
    }
    if (!file) {
        return failure(without(file.error(), std::string{key_name}));
    }
    struct stat found{};
    const bool known =
        kernel::fstat(file->get(), &found) == 0 && (found.st_mode & others_read) == 0 &&
        kernel::pread(file->get(), key_.data(), key_.size(), 0) == std::ssize(key_) &&
        found.st_size == std::ssize(key_);
    if (!known) {
        return failure(
            {ErrorCode::access, 0,
             fmt::format(
                 "cannot use the journal {} (its file {} is not a key that only its user can "
                 "read). Keep the folder, and name another one.",
                 path_, key_name)});
    }
    return {};
}

// Creates the key durably before it is used: without it, what is written with it is worthless.
int JournalFolder::make_key() {
    if (::getrandom(key_.data(), key_.size(), 0) != std::ssize(key_)) {
        return EIO;
    }
    const std::string fresh = std::string{key_name} + ".new";
    static_cast<void>(kernel::unlinkat(folder_.get(), fresh.c_str(), 0));
    const auto file = open_own_file(folder_, fresh, O_RDWR | O_CREAT | O_EXCL);
    if (!file) {
        return file.error().system == 0 ? EIO : file.error().system;
    }
    if (const int error = write_whole(file->get(), key_, 0); error != 0) {
        return error;
    }
    if (kernel::fsync(file->get()) != 0 ||
        kernel::renameat(folder_.get(), fresh.c_str(), folder_.get(), key_name.data()) != 0) {
        return errno;
    }
    return kernel::fsync(folder_.get()) == 0 ? 0 : errno;
}

Error JournalFolder::without(const Error& why, const std::string& name) const {
    Error error = why;
    error.message = fmt::format("cannot use {} of the journal {}: {}", name, path_, why.message);
    return error;
}

std::string JournalFolder::name_of(std::uint32_t segment) {
    return segment == head ? "head" : fmt::format("{}{:06}", prefix, segment);
}

std::vector<std::uint32_t> JournalFolder::segments() {
    std::vector<std::uint32_t> numbers;
    const int again = kernel::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{again < 0 ? nullptr : ::fdopendir(again),
                                                     ::closedir};
    if (!folder) {
        unlisted_ = errno;
        kernel::close(again);
        return numbers;
    }
    errno = 0;  // distinguishes an error from the end of the directory
    while (const dirent* const entry = ::readdir(folder.get())) {
        // The name must be the canonical one: a copy "…01" of segment 1 would be the same segment
        // twice.
        const auto number = number_of(entry->d_name);
        if (number && name_of(*number) == entry->d_name) {
            numbers.push_back(*number);
        }
        errno = 0;
    }
    unlisted_ = errno != 0 ? errno : unlisted_;
    return numbers;
}

Result<OwnFd> JournalFolder::open_segment(std::uint32_t segment, int flags) {
    const std::string name = name_of(segment);
    if (direct_) {
        auto file = open_own_file(folder_, name, flags | O_DIRECT);
        direct_ = file || file.error().system != EINVAL;
        if (direct_) {
            return file;
        }
    }
    return open_own_file(folder_, name, flags);
}

Result<std::span<const std::byte>> JournalFolder::look(std::uint32_t segment) {
    const std::string name = name_of(segment);
    const auto file = open_own_file(folder_, name, O_RDWR);
    if (!file && segment == head && file.error().system == ENOENT) {
        return std::span<const std::byte>{};
    }
    struct stat found{};
    if (!file) {
        return failure(without(file.error(), name));
    }
    if (kernel::fstat(file->get(), &found) != 0) {
        return failure(system_error(errno, fmt::format("read {}/{}", path_, name)));
    }
    if (found.st_size == 0) {
        return std::span<const std::byte>{};
    }
    auto mapping = MemoryMapping::of_file(file->get(), static_cast<std::size_t>(found.st_size));
    if (!mapping) {
        return failure(std::move(mapping.error()));
    }
    const auto bytes = mapping->bytes();
    looked_at_.insert_or_assign(segment, std::move(*mapping));
    return bytes;
}

int JournalFolder::settle() {
    std::vector<std::uint32_t> numbers = segments();
    if (unlisted_ != 0) {
        return unlisted_;  // a segment that is not listed would be overwritten
    }
    numbers.push_back(head);
    for (const std::uint32_t number : numbers) {
        const auto file = open_own_file(folder_, name_of(number), O_RDWR);
        struct stat found{};
        if (!file && number == head && file.error().system == ENOENT) {
            continue;
        }
        if (!file || kernel::fstat(file->get(), &found) != 0) {
            return file ? errno : errno_of(file.error());
        }
        // A segment that was being created when the node went down.
        if (found.st_size != bytes_of(number) &&
            kernel::fallocate(file->get(), 0, 0, bytes_of(number)) != 0) {
            return errno;
        }
        if (kernel::fsync(file->get()) != 0) {
            return errno;
        }
    }
    return kernel::fsync(folder_.get()) == 0 ? 0 : errno;
}

// Retries without O_DIRECT: some file systems accept it in open() and then refuse to write.
int JournalFolder::try_both(const std::function<int()>& call) {
    const bool direct = direct_;
    const int error = call();
    if (error != EINVAL || !direct) {
        return error;
    }
    direct_ = false;
    return call();
}

int JournalFolder::fill(std::uint32_t segment) {
    const auto file = open_segment(segment, O_RDWR | O_CREAT);
    if (!file) {
        return errno_of(file.error());
    }
    const OwnFd& fd = *file;
    const std::int64_t bytes = bytes_of(segment);
    // If the file system has no fallocate, writing the zeros allocates.
    if (kernel::fallocate(fd.get(), 0, 0, bytes) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
        return errno;
    }
    std::vector<std::byte> memory(zeros_bytes + alignment);
    void* at = memory.data();
    std::size_t room = memory.size();
    const std::span<const std::byte> zeros{
        static_cast<const std::byte*>(std::align(alignment, zeros_bytes, at, room)), zeros_bytes};
    for (std::int64_t done = 0; done < bytes;) {
        const auto some =
            static_cast<std::size_t>(std::min<std::int64_t>(bytes - done, std::ssize(zeros)));
        if (const int error = write_whole(fd.get(), zeros.first(some), done); error != 0) {
            return error;
        }
        done += static_cast<std::int64_t>(some);
    }
    return kernel::fsync(fd.get()) == 0 && kernel::fsync(folder_.get()) == 0 ? 0 : errno;
}

int JournalFolder::add(std::uint32_t segment) {
    const int error = try_both([&] { return fill(segment); });
    if (error != 0) {
        kernel::unlinkat(folder_.get(), name_of(segment).c_str(), 0);
    }
    return error;
}

int JournalFolder::write_once(const Write& write) {
    auto file = files_.find(write.segment);
    if (file == files_.end()) {
        auto opened =
            open_segment(write.segment, O_RDWR | (sync_ == Sync::by_each_write ? O_DSYNC : 0));
        if (!opened) {
            return errno_of(opened.error());
        }
        file = files_.emplace(write.segment, std::move(*opened)).first;
    }
    const int fd = file->second.get();
    const int error = write_whole(fd, write.bytes, write.at);
    if (error != 0 || sync_ == Sync::by_each_write) {
        return error;
    }
    return kernel::fdatasync(fd) == 0 ? 0 : errno;
}

int JournalFolder::write(const Write& write) {
    return try_both([&] {
        const int error = write_once(write);
        if (error == EINVAL) {
            files_.erase(write.segment);
        }
        return error;
    });
}

void JournalFolder::begin_adding(std::uint32_t segment) {
    adds_.begin([this, segment] { return add(segment); });
}

void JournalFolder::begin_writing(const Write& what) {
    looked_at_.erase(what.segment);
    writes_.begin([this, what] { return write(what); });
}

int JournalFolder::remove(std::uint32_t segment) {
    files_.erase(segment);
    looked_at_.erase(segment);
    const bool gone = kernel::unlinkat(folder_.get(), name_of(segment).c_str(), 0) == 0;
    return gone && kernel::fsync(folder_.get()) == 0 ? 0 : errno;
}

}  // namespace forebay::adapters
