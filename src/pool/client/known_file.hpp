// Finds a file in the directory by its identity in the file system.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/protocol/directory.hpp"

#include <optional>
#include <sys/types.h>

namespace forebay::pool {

// The file with this device and inode; nullopt: the daemon does not know it. Takes time with the
// number of files that the daemon knows.
[[nodiscard]] std::optional<FileId> known_file(const Directory& directory, dev_t device,
                                               ino_t inode) noexcept;

}  // namespace forebay::pool
