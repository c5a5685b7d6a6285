// Which errors of a call on a replica are of fast storage itself, so that a program goes on with
// the file on the parallel file system.
#pragma once

#include <cerrno>

namespace forebay::tier {

[[nodiscard]] constexpr bool is_lack_of_room(int error) noexcept {
    return error == ENOSPC || error == EDQUOT;
}

// Fast storage fails, or is gone: a disk with errors or remounted read-only, a FUSE file system
// whose server has died, a parallel one that has evicted this client or lost its servers.
[[nodiscard]] constexpr bool is_broken_place(int error) noexcept {
    switch (error) {
        case EIO:
        case EREMOTEIO:
        case EUCLEAN:  // ext4 and XFS: a damaged structure
        case EBADMSG:  // … or a wrong checksum
        case EROFS:
        case ENODEV:
        case ENOTCONN:      // FUSE: the server has died
        case ECONNABORTED:  // … in the middle of this request
        case ECONNRESET:
        case ESHUTDOWN:
        case ESTALE:
        case ETIMEDOUT:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENETDOWN:
        case ENETUNREACH:
        case ENOLINK: return true;
        default: return false;
    }
}

[[nodiscard]] constexpr bool is_of_fast_place(int error) noexcept {
    return is_lack_of_room(error) || is_broken_place(error);
}

// The error that a program gets where the only place of its bytes is broken.
[[nodiscard]] constexpr int error_for_program(int error) noexcept {
    return is_broken_place(error) ? EIO : error;
}

}  // namespace forebay::tier
