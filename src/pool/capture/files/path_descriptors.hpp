// Descriptors of O_PATH, which the daemon does not count as ones that have the file open. By
// /proc/self/fd a program can open the file again, also when it has lost its name meanwhile.
#pragma once

namespace forebay::capture {

// Called when the program has opened `fd` with O_PATH: if it is a file of the pool, files without a
// name are drained from now on, where otherwise their deposits would be dropped.
void note_opened_path(int fd) noexcept;

}  // namespace forebay::capture
