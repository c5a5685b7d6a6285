// Acts on what the daemon's directory knows of a file, also of one that the program has not opened
// by a captured call.
#pragma once

#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <atomic>
#include <cstdint>
#include <sys/stat.h>

namespace forebay::capture {

// Runs `act` on the file, if the daemon knows it; where this process maps nothing of the daemon's,
// has the file drained instead. Returns 0 or an errno.
template <class Act>
int on_known(const struct stat& found, const Act& act) noexcept {
    if (!connection.reach() || connection.life() != DaemonConnection::Life::lives) {
        return connection.is_unmapped() ? drain_and_close(found.st_dev, found.st_ino) : 0;
    }
    const auto file = known(found.st_dev, found.st_ino);
    if (!file) {
        return 0;
    }
    FileDescription any{};
    any.set_file(*file);
    any.connection.store(connection.generation(), std::memory_order_relaxed);
    any.offset.store(in_kernel, std::memory_order_relaxed);
    return act(CapturedFile{any, -1});
}

// Runs `act` on the file's slot in the directory when all earlier deposits are counted there; logs
// of other clients stay mapped meanwhile. Returns what `act` returns, or an errno.
template <class Act>
int on_counted(pool::FileId file, const Act& act) noexcept {
    const DaemonConnection::Reading reading{connection};
    if (const std::int64_t size = connection.reader().deposited_size(file); size < 0) {
        return static_cast<int>(-size);
    }
    return act(connection.directory().files[file.slot]);
}

}  // namespace forebay::capture
