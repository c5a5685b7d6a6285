// Files of a mount (forebay-mount). Their descriptors are the kernel's: every call on them that is
// not captured goes to the mount, which sees all deposits. So capturing reads and writes only makes
// them faster, and a process may begin and end to do so at any time.
//
//   counted ──(256 KiB went through the mount)──▶ joining ──▶ joined ──▶ by_kernel
//                                                    └──────────────────────▲
//                            refused: mapped, appended to, synced all the time
//
// The offset stays in the kernel, which shares it with whoever has the description. A captured
// write takes its part of the file by lseek before it moves bytes, so that nobody writes to the
// same part; a process that is killed in between leaves the offset behind a part that it has not
// written. So descriptions that were another process' before (standard streams, inherited and
// received descriptors) are not captured.
#pragma once

#include "pool/capture/files/files.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sys/types.h>

namespace forebay::capture {

// Bytes of a file that go through the mount before it is captured: for less, the questions to mount
// and daemon would take longer than they save.
inline constexpr std::int64_t mounted_small_bytes = std::int64_t{256} << 10;

// Whether the file system is a mount of Forebay that this process has met before. Nothing is asked.
[[nodiscard]] bool is_known_mount(dev_t device) noexcept;
// Finds out whether the folder, which is on `device`, is on a mount of Forebay.
void learn_mount(const char* folder, dev_t device) noexcept;
// is_known_mount(), of a descriptor's file system.
[[nodiscard]] bool is_on_known_mount(int fd) noexcept;
// Whether the descriptor is one of a mount of Forebay. Asks the file system.
[[nodiscard]] bool is_on_mount(int fd) noexcept;

// Decides how a read or write of so many bytes goes.
[[nodiscard]] FileRoute route_mounted(CapturedFile place, std::int64_t bytes) noexcept;
// leave() of a mounted file: nobody else has to know.
void leave_mounted(CapturedFile place, pool::ThroughReason reason) noexcept;
// Tells the kernel how long the file is by now, as it does not see deposits: it limits mappings and
// copies by the length that it knows. Nothing for a file that is not of a mount.
void refresh_size(CapturedFile place) noexcept;
// The same, if `fd` is captured and of a mount.
void refresh_size_of(int fd) noexcept;
[[nodiscard]] inline bool is_mounted(CapturedFile place) noexcept {
    return place.file.mounted.load(std::memory_order_relaxed) != MountedUse::none;
}
// Whether calls on the file go through the mount for good.
[[nodiscard]] inline bool is_by_kernel(CapturedFile place) noexcept {
    return place.file.mounted.load(std::memory_order_relaxed) == MountedUse::by_kernel;
}

// Reads bytes from the file below by a descriptor of its own, which is closed again. nullopt: it
// cannot be had, or the file would not pay for it. Precondition: the file was joined.
[[nodiscard]] std::optional<std::int64_t> read_below(CapturedFile place, std::int64_t offset,
                                                     std::span<std::byte> bytes) noexcept;

}  // namespace forebay::capture
