// Whether the daemon whose directory is mapped lives, has ended in good order, or is dead.
#pragma once

#include "pool/protocol/directory.hpp"

#include <atomic>
#include <linux/futex.h>

namespace forebay::pool {

enum class DaemonLife {
    lives,
    ended,  // the daemon drained everything before it ended: files are plain files
    dead,
};

// One load, no system call. `DirectoryHeader::alive` is a robust mutex that the daemon holds: its
// first word, a futex word, is the thread number of the holder, or has FUTEX_OWNER_DIED, which the
// kernel sets when the holder dies.
[[nodiscard]] inline DaemonLife life_of(const Directory& directory) noexcept {
    const DaemonEnd end = directory.header.ended.load(std::memory_order_acquire);
    if (end != DaemonEnd::not_yet) [[unlikely]] {
        return end == DaemonEnd::well ? DaemonLife::ended : DaemonLife::dead;
    }
    const auto& word = reinterpret_cast<const Word&>(directory.header.alive);
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if ((seen & FUTEX_OWNER_DIED) != 0) {
        return DaemonLife::dead;
    }
    if (seen != 0) {
        return DaemonLife::lives;
    }
    return directory.header.closing.load(std::memory_order_relaxed) != 0 ? DaemonLife::ended
                                                                         : DaemonLife::dead;
}

}  // namespace forebay::pool
