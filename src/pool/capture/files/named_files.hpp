// Handles a file by its name before libc or the kernel touches it where nobody sees it.
#pragma once

#include "pool/protocol/directory.hpp"

namespace forebay::capture {

// Puts all earlier writes into the file system. `flags` are fstatat's. 0 or an errno.
int drain_named(int folder, const char* path, int flags) noexcept;
// As drain_named; and everybody's writes go to the file system until nobody has it open any more.
int leave_named(int folder, const char* path, int flags, pool::ThroughReason reason) noexcept;
// Everything in the pool of this node is in the file system, whoever wrote it. 0 or an errno.
int drain_everything() noexcept;

}  // namespace forebay::capture
