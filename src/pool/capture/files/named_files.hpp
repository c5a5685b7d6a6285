// Prepares a file, given by its name, for libc or the kernel to use it by calls that are not
// captured.
#pragma once

#include "pool/protocol/directory.hpp"

namespace forebay::capture {

// All earlier writes to the file are in the file system. `flags` are fstatat's. Returns 0 or an
// errno.
int drain_named(int folder, const char* path, int flags) noexcept;
// Makes the file leave the pool: it is drained and written through until nobody has it open any
// more. Returns 0 or an errno.
int leave_named(int folder, const char* path, int flags, pool::ThroughReason reason) noexcept;

}  // namespace forebay::capture
