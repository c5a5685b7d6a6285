// libfuse's low-level interface, and constants of the kernel's protocol that the libfuse compiled
// against lacks.
#pragma once

#include <cerrno>
#include <cstdint>
#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>

namespace forebay::mount {

// Flags of the INIT message; see include/uapi/linux/fuse.h of the kernel. libfuse 3.14 passes on
// only those that it knows, so custom_io.hpp sets these in its answer.
struct InitFlag {
    static constexpr std::uint64_t handle_killpriv = std::uint64_t{1} << 19U;
    static constexpr std::uint64_t handle_killpriv_v2 = std::uint64_t{1} << 28U;
    static constexpr std::uint64_t extended = std::uint64_t{1} << 30U;
    static constexpr std::uint64_t direct_io_allow_mmap = std::uint64_t{1} << 36U;
};

// Requests that the libfuse compiled against has no name for.
inline constexpr std::uint32_t opcode_tmpfile = 51;
// The name that comes with opcode_tmpfile; no file can have it.
inline constexpr const char* tmpfile_name = "/";

// A handler's result is 0 or an errno to answer with, or `replied` if it has answered itself.
inline constexpr int replied = -1;

}  // namespace forebay::mount
