// The table of inodes that the kernel knows through the mount. Each has an O_PATH descriptor of the
// file below: so its inode number is not reused for another file, and it is reached by any name it
// has by now.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "pool/mount/files/file_use.hpp"
#include "pool/mount/serving/fuse.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unordered_map>
#include <vector>

namespace forebay::mount {

// Identifies a file. `handle` is a hash of its file handle (name_to_handle_at), which differs even
// if a server reuses the inode number; 0: the file system has no handles.
struct InodeKey {
    dev_t device = 0;
    ino_t inode = 0;
    std::uint64_t handle = 0;

    bool operator==(const InodeKey&) const noexcept = default;
};
[[nodiscard]] InodeKey key_of(int fd, const struct stat& found) noexcept;
// The same of the file `name` in a folder; takes no descriptor.
[[nodiscard]] InodeKey key_of(int folder, const char* name, const struct stat& found) noexcept;

struct MountedInode {
    MountedInode(OwnFd fd, const InodeKey& identity, const struct stat& found)
        : path{std::move(fd)},
          key{identity},
          is_directory{S_ISDIR(found.st_mode)},
          is_regular{S_ISREG(found.st_mode)} {}

    OwnFd path;  // O_PATH descriptor of the file below
    InodeKey key;
    bool is_directory;
    bool is_regular;
    std::uint64_t lookups = 0;  // the kernel's references; protected by the table's mutex
    FileUse use;                // for a regular file
};

class InodeTable {
public:
    explicit InodeTable(OwnFd root, const struct stat& found);

    // The inode that a request's `number` stands for.
    [[nodiscard]] MountedInode& at(fuse_ino_t number) noexcept {
        return number == FUSE_ROOT_ID ? *root_ : *reinterpret_cast<MountedInode*>(number);
    }
    [[nodiscard]] static fuse_ino_t number_of(const MountedInode& inode) noexcept {
        return reinterpret_cast<fuse_ino_t>(&inode);
    }
    struct Found {
        MountedInode& inode;
        bool is_new;
    };
    // The inode of the file, which is added if it is new, with one more lookup.
    [[nodiscard]] Found add(OwnFd fd, const struct stat& found);
    // The number of the inode with that key; 0: the kernel does not know it.
    [[nodiscard]] fuse_ino_t number_of(const InodeKey& key);
    // How many inodes there are, without the root.
    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_relaxed);
    }
    // The numbers of `count` files or some more that nobody has open; a number may be another's, or
    // nobody's, by the time it is used. No directories: one that is forgotten would be no working
    // directory any more. Each call goes on where the last one ended.
    [[nodiscard]] std::vector<fuse_ino_t> unused_files(std::size_t count);
    // The paths of such files below the root.
    [[nodiscard]] std::vector<std::string> paths_of_unused_files(std::size_t count);
    // Takes `lookups` from its count; at 0 the inode is removed, and returned. Null otherwise.
    [[nodiscard]] std::unique_ptr<MountedInode> forget(MountedInode& inode, std::uint64_t lookups);

private:
    struct Hash {
        std::size_t operator()(const InodeKey& key) const noexcept {
            return (key.inode * 0x9e3779b97f4a7c15U) ^ key.device ^ key.handle;
        }
    };
    // Calls `take` for files that nobody has open, while it has returned true less than `count`
    // times.
    template <class Take>
    void take_unused(std::size_t count, const Take& take);

    std::mutex mutex_;
    std::atomic<std::size_t> size_ = 0;
    std::size_t bucket_ = 0;  // where take_unused() goes on
    std::unique_ptr<MountedInode> root_;
    std::unordered_map<InodeKey, std::unique_ptr<MountedInode>, Hash> inodes_;
};

}  // namespace forebay::mount
