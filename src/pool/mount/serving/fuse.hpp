// libfuse's low-level interface, and the values of the kernel's protocol that this version of it
// does not know.
#pragma once

#include <cerrno>
#include <cstdint>
#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>

namespace forebay::mount {

// Bits of the INIT message; see include/uapi/linux/fuse.h of the kernel. libfuse 3.14 passes on
// only those that it has names for, so that these are put into its answer (custom_io.hpp).
struct InitFlag {
    static constexpr std::uint64_t handle_killpriv = std::uint64_t{1} << 19U;
    static constexpr std::uint64_t handle_killpriv_v2 = std::uint64_t{1} << 28U;
    static constexpr std::uint64_t extended = std::uint64_t{1} << 30U;
    static constexpr std::uint64_t direct_io_allow_mmap = std::uint64_t{1} << 36U;
};

// Requests without a name in the libfuse that is compiled against.
inline constexpr std::uint32_t opcode_tmpfile = 51;
// The name that the kernel gives with opcode_tmpfile; no file can have it.
inline constexpr const char* tmpfile_name = "/";

// A handler's result: 0 or an errno to answer with, or this.
inline constexpr int replied = -1;

}  // namespace forebay::mount
