// recvmsg() of one reply, with the descriptors of its control message.
#include "pool/client/question_exchange.hpp"

#include "foundation/kernel/calls.hpp"
#include "pool/client/send_question.hpp"
#include "pool/client/shared_mapping.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <sys/socket.h>

namespace forebay::pool {

namespace {

// Polls before the thread sleeps in recvmsg: waking up takes longer than most replies (decision
// 0009).
constexpr int looks_max = 100;

// As recvmsg(2), which is not interrupted.
ssize_t receive_message(int socket, msghdr& message, CoreYielding* yielding) noexcept {
    ssize_t moved = -1;
    errno = EAGAIN;
    if (yielding != nullptr) {
        moved = kernel::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        for (int looks = 1; looks < looks_max && moved < 0 && errno == EAGAIN && yielding->pays();
             ++looks) {
            yielding->yield();
            moved = kernel::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        }
    }
    while (moved < 0 && (errno == EINTR || errno == EAGAIN)) {
        moved = kernel::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    }
    return moved;
}

// Takes the descriptors that came with a message; closes those for which there is no place.
void take_descriptors(msghdr& message, std::span<int> descriptors) noexcept {
    std::size_t count = 0;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t some = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < some; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            if (count < descriptors.size()) {
                descriptors[count++] = fd;
            } else {
                close_if_open(fd);
            }
        }
    }
}

// Receives one message. Returns bytes, 0 at the end of the connection, or -1 and errno.
ssize_t receive(int socket, std::span<std::byte> to, std::span<int> descriptors,
                CoreYielding* yielding) noexcept {
    iovec bytes{to.data(), to.size()};
    alignas(cmsghdr) std::array<char, 256> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t moved = receive_message(socket, message, yielding);
    if (moved >= 0) {
        take_descriptors(message, descriptors);
    }
    return moved;
}

}  // namespace

ReceivedReply exchange(int socket, const protocol::ClientQuestion& question, int descriptor,
                       CoreYielding* yielding) noexcept {
    ReceivedReply received;
    std::array<std::byte, sizeof(protocol::DaemonReply)> bytes;
    const ssize_t moved = send_question(socket, question, descriptor)
                              ? receive(socket, bytes, received.descriptors, yielding)
                              : -1;
    if (moved <= 0) {
        errno = moved == 0 ? ECONNRESET : errno;
        return received;
    }
    const auto said = protocol::reply_of(std::span{bytes}.first(static_cast<std::size_t>(moved)));
    received.came = said.has_value() && said->ask == question.ask;
    if (received.came) {
        received.reply = *said;
    } else {
        errno = EPROTO;
    }
    return received;
}

}  // namespace forebay::pool
