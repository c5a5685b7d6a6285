// A limit of file sizes (RLIMIT_FSIZE), which a deposit does not know: where there is one, files
// that the process has open for writing leave the pool, so that the kernel can say EFBIG and send
// SIGXFSZ. It is seen when a file is opened and when this process sets it. Another process may set
// it, too (prlimit, also by the program of that name), and nobody tells us: it is asked for once in
// each tick of the kernel's clock in which something is written. So at most what is written within
// one tick (1 to 10 ms) goes beyond a limit that another process has just set.
#pragma once

namespace forebay::capture {

// Before something is deposited.
void heed_size_limit() noexcept;
// Whether there is one that a file of so many bytes would go beyond.
[[nodiscard]] bool is_beyond_size_limit(long long bytes) noexcept;

}  // namespace forebay::capture
