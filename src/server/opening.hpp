// A file that a client has opened, opened once more by the daemon for itself: it can go on writing
// when the client has ended.
#pragma once

#include "adapters/uring/open.hpp"
#include "base/own_fd.hpp"
#include "base/result.hpp"
#include "pool/pool.hpp"

#include <string>

namespace forebay::server {

struct Wish {
    std::string path;  // for messages
    pool::Access access = pool::Access::read;
};

// What a client says that it will do with its descriptor, and what it may do by it.
[[nodiscard]] pool::Access access_of(const OwnFd& received, bool writes);

// The same inode as the received descriptor's, whatever the path says by now. Fails where it is no
// plain file (EINVAL), where the client asks for writing and its descriptor may not (EBADF), and
// where the daemon cannot write to it although the client can.
[[nodiscard]] Result<pool::OpenFile> open_again(const OwnFd& received, const Wish& wish,
                                                adapters::Preference preference);

}  // namespace forebay::server
