// fopencookie streams cannot hold wide characters. So the first wide operation on a pooled stream
// turns the stream into one of libc's, and its file leaves the pool. A stream that was used for
// bytes before is left alone: libc refuses wide characters on it.
#include "pool/capture/calls/wide.hpp"

#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/streams/pooled_stream.hpp"

#include <cerrno>
#include <cstdio>

namespace forebay::capture {

namespace {

// Returns 0 or an errno.
int left_to_libc(FILE* stream) noexcept {
    const int error = leave_if_captured(stream->_fileno, pool::ThroughReason::stream);
    if (error == 0) {
        make_plain(stream);
    }
    return error;
}

}  // namespace

bool ready_for_wide(FILE* stream) noexcept {
    if (!is_pooled(stream) || stream->_mode != 0) [[likely]] {
        return true;
    }
    const StreamLock locked{*stream};
    const bool still = is_pooled(stream) && stream->_mode == 0;
    const int error = still ? left_to_libc(stream) : 0;
    if (error != 0) {
        stream->_flags |= _IO_ERR_SEEN;
        errno = error;
    }
    return error == 0;
}

namespace captured {

int fwide(FILE* stream, int orientation) noexcept {
    return orientation <= 0 || ready_for_wide(stream) ? real::fwide(stream, orientation) : 0;
}

}  // namespace captured

}  // namespace forebay::capture
