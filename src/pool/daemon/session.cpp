// See session.hpp.
#include "pool/daemon/session.hpp"

#include "pool/daemon/listener/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace forebay::daemon {

int errno_of(const Error& error) noexcept { return error.system == 0 ? EIO : error.system; }

void Answer::refuse(int error) noexcept {
    reply.error = error;
    descriptors.clear();
}

bool Answer::pass(Result<OwnFd> descriptor) {
    if (!descriptor) {
        refuse(errno_of(descriptor.error()));
        return false;
    }
    descriptors.push_back(std::move(*descriptor));
    return true;
}

Answer* Session::waiting_for(std::uint64_t ticket) noexcept {
    const auto found = std::ranges::find_if(
        answers_, [&](const Answer& answer) { return answer.ticket == ticket; });
    return found == answers_.end() ? nullptr : &*found;
}

bool Session::send() {
    blocked_ = false;
    while (!answers_.empty() && !answers_.front().ticket) {
        const Answer& answer = answers_.front();
        const auto bytes = std::as_bytes(std::span{&answer.reply, 1});
        const Delivery delivery = deliver(socket_.get(), bytes, answer.descriptors);
        if (delivery == Delivery::gone) {
            return false;
        }
        if (delivery == Delivery::later) {
            blocked_ = true;
            return true;
        }
        answers_.pop_front();
    }
    return true;
}

}  // namespace forebay::daemon
