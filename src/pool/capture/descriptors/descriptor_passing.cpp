// Captured sendmsg and sendmmsg: descriptors that are passed to another process (SCM_RIGHTS) may be
// used there by calls that are not captured. Their files leave the pool before the message is sent.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace forebay::capture {

namespace {

// UIO_MAXIOV: the kernel takes no more messages at a time.
constexpr unsigned messages_max = 1024;

template <class One>
bool readable(const One* at, std::size_t count = 1) noexcept {
    return state.memory.readable(at, count * sizeof *at) == count * sizeof *at;
}

// Descriptors of one control message, which is untrusted input. Returns 0 or an errno.
int leave_those_of(const std::byte* rights, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, rights + at, sizeof fd);
        const int error = leave_if_captured(fd, pool::ThroughReason::sent);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

// Returns 0 or an errno. A malformed message is left to the kernel.
int prepare_message(const msghdr& message) noexcept {
    const auto* const control = static_cast<const std::byte*>(message.msg_control);
    if (message.msg_controllen < sizeof(cmsghdr) || control == nullptr ||
        !readable(control, message.msg_controllen)) {
        return 0;
    }
    std::size_t at = 0;
    while (at <= message.msg_controllen - sizeof(cmsghdr)) {
        cmsghdr header{};
        std::memcpy(&header, control + at, sizeof header);
        const std::size_t left = message.msg_controllen - at;
        if (header.cmsg_len < sizeof header || header.cmsg_len > left) {
            break;
        }
        if (header.cmsg_level == SOL_SOCKET && header.cmsg_type == SCM_RIGHTS) {
            const std::size_t begin = CMSG_LEN(0);
            const std::size_t bytes = std::max(std::size_t{header.cmsg_len}, begin) - begin;
            const int error = leave_those_of(control + at + begin, bytes);
            if (error != 0) {
                return error;
            }
        }
        at += std::min(CMSG_ALIGN(header.cmsg_len), left);
    }
    return 0;
}

// False for most programs, which have captured nothing when they send.
bool may_send_files() noexcept { return descriptors.end() > 0; }

}  // namespace

namespace captured {

ssize_t sendmsg(int socket, const msghdr* message, int flags) noexcept {
    if (may_send_files() && readable(message)) {
        const int error = message->msg_controllen == 0 ? 0 : prepare_message(*message);
        if (error != 0) {
            return fail(error);
        }
    }
    return real::sendmsg(socket, message, flags);
}

int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) noexcept {
    const unsigned looked_at = may_send_files() ? std::min(count, messages_max) : 0;
    for (unsigned i = 0; i < looked_at && readable(messages + i); ++i) {
        const int error = prepare_message(messages[i].msg_hdr);
        if (error != 0) {
            return fail(error);
        }
    }
    return real::sendmmsg(socket, messages, count, flags);
}

}  // namespace captured

}  // namespace forebay::capture
