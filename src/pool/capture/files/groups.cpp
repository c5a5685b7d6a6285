// The entries of PoolCalls for groups, as questions to the daemon of this node.
#include "pool/capture/files/groups.hpp"

#include "capture/captured.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <utility>

namespace forebay::capture {

namespace {

bool lives() noexcept {
    return capturing() && connection.reach() && connection.life() == DaemonConnection::Life::lives;
}

}  // namespace

std::uint32_t nodes_of_job() noexcept {
    return lives() ? connection.directory().header.nodes.load(std::memory_order_relaxed) : 0;
}

void group_opens(std::uint64_t group) noexcept { grouping() = {.group = group, .part = false}; }

int open_part(const char* path, int flags, std::uint64_t group) noexcept {
    const FileGrouping before = std::exchange(grouping(), {.group = group, .part = true});
    const int fd = captured::open(path, flags, 0);
    grouping() = before;
    return fd;
}

bool knows(dev_t device, ino_t inode) noexcept {
    return lives() && known(device, inode).has_value();
}

int arrives(dev_t device, ino_t inode) noexcept {
    if (!connection.reached() || connection.life() == DaemonConnection::Life::ended) {
        return 0;
    }
    if (connection.life() == DaemonConnection::Life::dead) {
        return EIO;
    }
    const auto file = known(device, inode);
    return file ? arrives(*file) : 0;
}

int settle(dev_t device, ino_t inode) noexcept {
    if (!connection.reached() || connection.life() == DaemonConnection::Life::dead) {
        return EIO;
    }
    if (connection.life() == DaemonConnection::Life::ended) {
        return 0;  // the daemon drained everything before it ended
    }
    const auto file = known(device, inode);
    return file ? settle(*file) : ENOENT;
}

}  // namespace forebay::capture
