// Inode numbers given to the kernel are addresses of MountedInode; the kernel's FORGET ends their
// life.
#include "pool/mount/tree/inodes.hpp"

#include "foundation/base/folder_path.hpp"
#include "foundation/kernel/descriptor_names.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

InodeKey key_of(int fd, const struct stat& found) noexcept { return key_of(fd, "", found); }

InodeKey key_of(int folder, const char* name, const struct stat& found) noexcept {
    InodeKey key{.device = found.st_dev, .inode = found.st_ino};
    // A file_handle, followed by the bytes of the handle.
    alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + MAX_HANDLE_SZ> bytes{};
    auto& handle = *reinterpret_cast<file_handle*>(bytes.data());
    handle.handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (::name_to_handle_at(folder, name, &handle, &mount, AT_EMPTY_PATH) != 0) {
        return key;
    }
    constexpr std::uint64_t prime = 0x100000001b3U;
    key.handle = 0xcbf29ce484222325U;
    const std::size_t end =
        sizeof(file_handle) + std::min<std::size_t>(handle.handle_bytes, MAX_HANDLE_SZ);
    for (std::size_t i = sizeof(file_handle); i < end; ++i) {
        key.handle = (key.handle ^ bytes[i]) * prime;
    }
    return key;
}

InodeTable::InodeTable(OwnFd root, const struct stat& found) {
    const InodeKey key = key_of(root.get(), found);
    root_ = std::make_unique<MountedInode>(std::move(root), key, found);
}

InodeTable::Found InodeTable::add(OwnFd fd, const struct stat& found) {
    const InodeKey key = key_of(fd.get(), found);
    const std::scoped_lock lock{mutex_};
    if (key == root_->key) {
        return {*root_, false};
    }
    auto& place = inodes_[key];
    const bool is_new = place == nullptr;
    if (is_new) {
        place = std::make_unique<MountedInode>(std::move(fd), key, found);
        size_.store(inodes_.size(), std::memory_order_relaxed);
    }
    ++place->lookups;
    return {*place, is_new};
}

fuse_ino_t InodeTable::number_of(const InodeKey& key) {
    const std::scoped_lock lock{mutex_};
    if (key == root_->key) {
        return FUSE_ROOT_ID;
    }
    const auto found = inodes_.find(key);
    return found == inodes_.end() ? 0 : number_of(*found->second);
}

template <class Take>
void InodeTable::take_unused(std::size_t count, const Take& take) {
    const std::scoped_lock lock{mutex_};
    std::size_t taken = 0;
    for (std::size_t i = 0; i < inodes_.bucket_count() && taken < count; ++i) {
        bucket_ = (bucket_ + 1) % inodes_.bucket_count();
        for (auto one = inodes_.begin(bucket_); one != inodes_.end(bucket_); ++one) {
            MountedInode& inode = *one->second;
            const std::unique_lock use{inode.use.mutex, std::try_to_lock};
            if (!inode.is_directory && use.owns_lock() && inode.use.handles == 0 && take(inode)) {
                ++taken;
            }
        }
    }
}

std::vector<fuse_ino_t> InodeTable::unused_files(std::size_t count) {
    std::vector<fuse_ino_t> found;
    take_unused(count, [&found](const MountedInode& inode) {
        found.push_back(number_of(inode));
        return true;
    });
    return found;
}

std::vector<std::string> InodeTable::paths_of_unused_files(std::size_t count) {
    std::vector<std::string> found;
    const std::string top = kernel::path_of_descriptor(root_->path.get());
    const FolderPath root{top};
    take_unused(count, [&](const MountedInode& inode) {
        const std::string path = kernel::path_of_descriptor(inode.path.get());
        const auto name = root.name_of(path);
        if (name) {
            found.emplace_back(*name);
        }
        return name.has_value();
    });
    return found;
}

std::unique_ptr<MountedInode> InodeTable::forget(MountedInode& inode, std::uint64_t lookups) {
    std::unique_ptr<MountedInode> gone;
    const std::scoped_lock lock{mutex_};
    if (&inode == root_.get()) {
        return gone;
    }
    inode.lookups -= std::min(lookups, inode.lookups);
    if (inode.lookups == 0) {
        const auto found = inodes_.find(inode.key);
        gone = std::move(found->second);
        inodes_.erase(found);
        size_.store(inodes_.size(), std::memory_order_relaxed);
    }
    return gone;
}

}  // namespace forebay::mount
