// Handlers that list directories. READDIRPLUS also sends the attributes of each name, since `du`
// and `find` would otherwise look up every name.
#include "pool/mount/serving/operations.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace forebay::mount {

namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

struct DirectoryHandle {
    std::unique_ptr<DIR, CloseDirectory> directory;
    off_t offset = 0;
    const dirent* next = nullptr;  // read, but not yet sent
};

DirectoryHandle& directory_handle(const fuse_file_info* file) noexcept {
    return *reinterpret_cast<DirectoryHandle*>(file->fh);
}

int opendir(const FuseRequest& asked, fuse_ino_t number, fuse_file_info* file) {
    const int fd =
        ::openat(asked.inode(number).path.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    auto handle = std::make_unique<DirectoryHandle>();
    handle->directory.reset(::fdopendir(fd));
    if (handle->directory == nullptr) {
        const int error = errno;
        ::close(fd);
        return error;
    }
    file->fh = reinterpret_cast<std::uint64_t>(handle.get());
    if (fuse_reply_open(asked.request, file) != -ENOENT) {
        static_cast<void>(handle.release());
    }
    return replied;
}

bool is_dots(std::string_view name) noexcept { return name == "." || name == ".."; }

// Returns the bytes that the entry takes in the answer. If that exceeds the room, the entry was not
// added, and its lookup is taken back.
std::size_t add_entry(const FuseRequest& asked, fuse_ino_t number, const dirent& one,
                      std::span<char> room, bool attributes) {
    fuse_entry_param entry{};
    entry.attr.st_ino = one.d_ino;
    entry.attr.st_mode = static_cast<mode_t>(DTTOIF(one.d_type));
    if (!attributes) {
        return fuse_add_direntry(asked.request, room.data(), room.size(), one.d_name, &entry.attr,
                                 one.d_off);
    }
    // Leaves the lookup to the kernel where the file was removed meanwhile, and where descriptors
    // are short: while the folder is listed, the kernel forgets none of its files.
    if (!is_dots(one.d_name) &&
        (asked.server.trimmer().is_short() ||
         look_up(asked.server, number, one.d_name, AnswerOrder::ordered, entry) != 0)) {
        entry.ino = 0;
    }
    const std::size_t taken = fuse_add_direntry_plus(asked.request, room.data(), room.size(),
                                                     one.d_name, &entry, one.d_off);
    if (taken > room.size() && entry.ino != 0) {
        asked.server.forget(asked.inode(entry.ino), 1);
    }
    return taken;
}

int list(const FuseRequest& asked, fuse_ino_t number, std::size_t bytes, off_t offset,
         DirectoryHandle& handle, bool attributes) {
    if (offset != handle.offset) {
        ::seekdir(handle.directory.get(), offset);
        handle.next = nullptr;
        handle.offset = offset;
    }
    std::vector<char> room(bytes);
    std::size_t filled = 0;
    int error = 0;
    for (;;) {
        if (handle.next == nullptr) {
            errno = 0;
            handle.next = ::readdir(handle.directory.get());
            error = errno;
        }
        if (handle.next == nullptr) {
            break;
        }
        const std::size_t taken =
            add_entry(asked, number, *handle.next, std::span{room}.subspan(filled), attributes);
        if (taken > room.size() - filled) {
            break;
        }
        filled += taken;
        handle.offset = handle.next->d_off;
        handle.next = nullptr;
    }
    if (filled == 0 && error != 0) {
        return error;
    }
    fuse_reply_buf(asked.request, room.data(), filled);
    return replied;
}

int readdir(const FuseRequest& asked, fuse_ino_t number, std::size_t bytes, off_t offset,
            fuse_file_info* file) {
    return list(asked, number, bytes, offset, directory_handle(file), false);
}

int readdirplus(const FuseRequest& asked, fuse_ino_t number, std::size_t bytes, off_t offset,
                fuse_file_info* file) {
    return list(asked, number, bytes, offset, directory_handle(file), true);
}

int releasedir(const FuseRequest& /*asked*/, fuse_ino_t /*number*/, fuse_file_info* file) {
    const std::unique_ptr<DirectoryHandle> gone{&directory_handle(file)};
    return 0;
}

int fsyncdir(const FuseRequest& /*asked*/, fuse_ino_t /*number*/, int data_only,
             fuse_file_info* file) {
    const int fd = ::dirfd(directory_handle(file).directory.get());
    return errno_of_call(data_only != 0 ? ::fdatasync(fd) : ::fsync(fd));
}

}  // namespace

void add_directory_operations(fuse_lowlevel_ops& table) {
    table.opendir = &answer<&opendir, fuse_ino_t, fuse_file_info*>;
    table.readdir = &answer<&readdir, fuse_ino_t, std::size_t, off_t, fuse_file_info*>;
    table.readdirplus = &answer<&readdirplus, fuse_ino_t, std::size_t, off_t, fuse_file_info*>;
    table.releasedir = &answer<&releasedir, fuse_ino_t, fuse_file_info*>;
    table.fsyncdir = &answer<&fsyncdir, fuse_ino_t, int, fuse_file_info*>;
}

}  // namespace forebay::mount
