// The limit of file sizes (RLIMIT_FSIZE), which deposits do not enforce: if there is one, files
// that the process has open for writing leave the pool, so that the kernel can fail with EFBIG and
// send SIGXFSZ. The limit is read when a file is opened and when this process sets it. Another
// process may set it, too (prlimit), without notice: so it is read again at the first write in each
// tick of the kernel's clock. At most the writes of one tick (1 to 10 ms) go beyond a limit that
// another process has just set.
#pragma once

namespace forebay::capture {

// To be called before a deposit: reads the limit once in each tick.
void heed_size_limit() noexcept;
// Whether a file of `bytes` bytes would exceed a limit.
[[nodiscard]] bool is_beyond_size_limit(long long bytes) noexcept;

}  // namespace forebay::capture
