// libfuse calls these functions in place of read() and writev() on /dev/fuse.
#include "pool/mount/serving/custom_io.hpp"

#include <unistd.h>

namespace forebay::mount {

ssize_t CustomIo::read(int fd, void* to, std::size_t bytes) noexcept {
    const ssize_t got = ::read(fd, to, bytes);
    if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) {
        return got;
    }
    auto& header = *static_cast<fuse_in_header*>(to);
    if (header.opcode == FUSE_INIT) {
        const auto& wanted = *reinterpret_cast<const fuse_init_in*>(&header + 1);
        init = header.unique;
        offered = wanted.flags;
        if ((offered & InitFlag::extended) != 0) {
            offered |= std::uint64_t{wanted.flags2} << 32U;
        }
    } else if (header.opcode == opcode_tmpfile) {
        header.opcode = FUSE_CREATE;
    }
    return got;
}

ssize_t CustomIo::write(int fd, iovec* pieces, int count) noexcept {
    const auto& header = *static_cast<const fuse_out_header*>(pieces[0].iov_base);
    if (count == 2 && header.unique == init && init != 0 && header.error == 0 &&
        pieces[1].iov_len >= sizeof(fuse_init_out)) {
        auto& answer = *static_cast<fuse_init_out*>(pieces[1].iov_base);
        std::uint64_t flags = answer.flags;
        if ((offered & InitFlag::handle_killpriv_v2) != 0) {
            flags = (flags & ~InitFlag::handle_killpriv) | InitFlag::handle_killpriv_v2;
        }
        if (maps_direct_files()) {
            flags |= InitFlag::extended | InitFlag::direct_io_allow_mmap;
        }
        answer.flags = static_cast<std::uint32_t>(flags);
        answer.flags2 = static_cast<std::uint32_t>(flags >> 32U);
        init = 0;
    }
    return ::writev(fd, pieces, count);
}

}  // namespace forebay::mount
