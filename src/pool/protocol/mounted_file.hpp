// The question of a captured program to the mount that serves a descriptor. It is an ioctl on the
// descriptor, since the daemon must never have a descriptor of a mount that waits for the daemon.
#pragma once

#include <cstdint>
#include <linux/ioctl.h>

namespace forebay::protocol {

// The answer of forebay-mount about an open file.
struct MountedFileId {
    std::uint64_t daemon = 0;      // the mount's daemon: DirectoryHeader::process
    std::uint64_t device = 0;      // of the file below
    std::uint64_t inode = 0;       // of the file below
    std::uint32_t slot = 0;        // in the daemon's directory
    std::uint32_t generation = 0;  // of the slot
    // The serving process, and the number of its descriptor of the file below.
    std::int32_t process = 0;
    std::int32_t descriptor = -1;
};

// Whether the descriptor is one of a mount before a pool: its pool::format. Otherwise the ioctl
// fails, mostly with ENOTTY. Never to be changed: a mount of another version is one, too.
inline constexpr unsigned long ask_whether_mounted = _IOR(0xfb, 3, std::uint64_t);
// The file may get deposits by a captured program as long as this open file description is there:
// it is known to the daemon, and from now on the kernel remembers no attributes of it. EBUSY: the
// program has to go on through the mount.
inline constexpr unsigned long ask_to_capture = _IOR(0xfb, 4, MountedFileId);

}  // namespace forebay::protocol
