// File systems in memory or on a device of this node. An open there asks no server, if the inode is
// cached, as that of an open file is; and they answer quickly when data is cached.
#pragma once

#include "foundation/kernel/newer_linux.hpp"

#include <cstdint>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace forebay::kernel {

[[nodiscard]] inline bool is_local(const struct statfs& system) noexcept {
    switch (static_cast<std::uint32_t>(system.f_type)) {
        case TMPFS_MAGIC:
        case EXT4_SUPER_MAGIC:
        case xfs_magic:
        case BTRFS_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC: return true;
        default: return false;
    }
}

// File systems that show all nodes the same bytes at once: what one node has written, a program on
// another reads, whatever it had read before. (NFS does not, nor does BeeGFS with buffers.)
[[nodiscard]] inline bool is_coherent(const struct statfs& system) noexcept {
    constexpr std::uint32_t lustre = 0x0BD00BD0;
    constexpr std::uint32_t gpfs = 0x47504653;
    constexpr std::uint32_t gfs2 = 0x01161970;
    switch (static_cast<std::uint32_t>(system.f_type)) {
        case lustre:
        case gpfs:
        case gfs2:
        case CEPH_SUPER_MAGIC:
        case OCFS2_SUPER_MAGIC: return true;
        default: return false;
    }
}

}  // namespace forebay::kernel
