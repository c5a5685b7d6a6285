// recvmsg() and sendmsg() with descriptors in control messages (SCM_RIGHTS).
#include "pool/daemon/listener/socket.hpp"

#include "foundation/base/contracts.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace forebay::daemon {

namespace {

using Control = std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))>;

void take_descriptors(const cmsghdr& control, std::vector<OwnFd>& into) {
    const std::size_t bytes = control.cmsg_len - CMSG_LEN(0);
    const unsigned char* const data = CMSG_DATA(&control);
    for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, data + at, sizeof fd);
        into.emplace_back(fd);
    }
}

}  // namespace

ReceivedMessage receive(int socket, std::size_t bytes_max) {
    ReceivedMessage received;
    received.bytes.resize(bytes_max + 1);
    alignas(cmsghdr) Control control{};
    iovec piece{received.bytes.data(), received.bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) {
        const bool later = errno == EAGAIN || errno == EINTR;
        received.arrival = later ? ReceiveResult::nothing : ReceiveResult::end;
        return received;
    }
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS) {
            take_descriptors(*one, received.descriptors);
        }
    }
    received.arrival = got == 0 ? ReceiveResult::end : ReceiveResult::message;
    received.bytes.resize(static_cast<std::size_t>(got));
    received.lost_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
    return received;
}

SendResult deliver(int socket, std::span<const std::byte> bytes,
                   std::span<const OwnFd> descriptors) {
    expects(descriptors.size() <= descriptors_max, "a message carries few descriptors");
    alignas(cmsghdr) Control control{};
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
        cmsghdr* const one = CMSG_FIRSTHDR(&message);
        one->cmsg_level = SOL_SOCKET;
        one->cmsg_type = SCM_RIGHTS;
        one->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        unsigned char* at = CMSG_DATA(one);
        for (const OwnFd& descriptor : descriptors) {
            const int fd = descriptor.get();
            std::memcpy(at, &fd, sizeof fd);
            at += sizeof fd;
        }
    }
    const ssize_t sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
        return SendResult::done;
    }
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? SendResult::later
                                                                 : SendResult::gone;
}

}  // namespace forebay::daemon
