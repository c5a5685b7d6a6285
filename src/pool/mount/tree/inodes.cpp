// Inode numbers given to the kernel are addresses of MountedInode; the kernel's FORGET ends their
// life.
#include "pool/mount/tree/inodes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <utility>

namespace forebay::mount {

InodeKey key_of(int fd, const struct stat& found) noexcept {
    InodeKey key{.device = found.st_dev, .inode = found.st_ino};
    // A file_handle, followed by the bytes of the handle.
    alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + MAX_HANDLE_SZ> bytes{};
    auto& handle = *reinterpret_cast<file_handle*>(bytes.data());
    handle.handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (::name_to_handle_at(fd, "", &handle, &mount, AT_EMPTY_PATH) != 0) {
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
    root_ = std::make_unique<MountedInode>(std::move(root), key);
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
        place = std::make_unique<MountedInode>(std::move(fd), key);
    }
    ++place->lookups;
    return {*place, is_new};
}

void InodeTable::forget(MountedInode& inode, std::uint64_t lookups) {
    std::unique_ptr<MountedInode> gone;  // destroyed after the lock is released
    const std::scoped_lock lock{mutex_};
    if (&inode == root_.get()) {
        return;
    }
    inode.lookups -= std::min(lookups, inode.lookups);
    if (inode.lookups == 0) {
        const auto found = inodes_.find(inode.key);
        gone = std::move(found->second);
        inodes_.erase(found);
    }
}

}  // namespace forebay::mount
