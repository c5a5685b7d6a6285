// The queue of a connection's replies.
#include "pool/daemon/session.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/base/error_number.hpp"
#include "pool/daemon/listener/socket.hpp"

#include <span>

namespace forebay::daemon {

void QueuedReply::refuse(int error) noexcept {
    expects(error != 0, "a refusal has an error");
    expects(!due, "a reply that may have been sent does not change");
    reply.error = error;
    descriptors.clear();
}

bool QueuedReply::pass(Result<OwnFd> descriptor) {
    if (!descriptor) {
        refuse(errno_of(descriptor.error()));
        return false;
    }
    expects(descriptors.size() < descriptors_max, "a reply carries few descriptors");
    descriptors.push_back(std::move(*descriptor));
    return true;
}

bool Session::may_write(const protocol::ClientQuestion& question) const {
    const auto opened = opened_for_writing.find(question.slot);
    return opened != opened_for_writing.end() && opened->second == question.generation;
}

QueuedReply& Session::add_reply(const protocol::ClientQuestion& question) {
    expects(reads(), "a question is taken where there is room for its reply");
    QueuedReply& added = replies_.emplace_back();
    added.reply.ask = question.ask;
    added.reply.slot = question.slot;
    added.reply.generation = question.generation;
    return added;
}

bool Session::send() {
    blocked_ = false;
    while (!replies_.empty() && replies_.front().due) {
        const QueuedReply& next = replies_.front();
        const auto bytes = std::as_bytes(std::span{&next.reply, 1});
        const SendResult delivery = deliver(socket_.get(), bytes, next.descriptors);
        if (delivery == SendResult::gone) {
            return false;
        }
        if (delivery == SendResult::later) {
            blocked_ = true;
            return true;
        }
        replies_.pop_front();
    }
    return true;
}

}  // namespace forebay::daemon
