// sendmsg() of one question, with a control message where a descriptor goes along.
#include "pool/client/send_question.hpp"

#include "foundation/kernel/calls.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace forebay::pool {

bool send_question(int socket, const protocol::ClientQuestion& question, int descriptor) noexcept {
    iovec bytes{const_cast<protocol::ClientQuestion*>(&question), sizeof question};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t moved = 0;
    do {
        moved = kernel::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (moved < 0 && errno == EINTR);
    return moved == static_cast<ssize_t>(sizeof question);
}

}  // namespace forebay::pool
