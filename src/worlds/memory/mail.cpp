// One mutex guards everything; whoever completes a match copies the bytes.
#include "worlds/memory/mail.hpp"

#include <algorithm>

namespace forebay::adapters {

namespace {

void deliver(std::span<const std::byte> message, std::span<std::byte> into) {
    expects(message.size() <= into.size(), "a message fits into the memory of its receive");
    std::copy(message.begin(), message.end(), into.begin());
}

}  // namespace

NodeMailbox::Ticket NodeMailbox::new_ticket() {
    ended_[++last_] = false;
    return last_;
}

NodeMailbox::Ticket NodeMailbox::send(const Route& route, std::span<const std::byte> bytes) {
    const std::scoped_lock lock{mutex_};
    const Ticket ticket = new_ticket();
    const auto wish = std::find_if(receives_.begin(), receives_.end(),
                                   [&](const PostedReceive& one) { return one.route == route; });
    if (wish != receives_.end()) {
        deliver(bytes, wish->bytes);
        ended_[wish->ticket] = true;
        ended_[ticket] = true;
        receives_.erase(wish);
        return ticket;
    }
    Message message{route, ticket, bytes, {}, bytes.size() <= eager_bytes_};
    if (message.eager) {
        message.copy.assign(bytes.begin(), bytes.end());
        ended_[ticket] = true;
    }
    messages_.push_back(std::move(message));
    return ticket;
}

NodeMailbox::Ticket NodeMailbox::receive(const Route& route, std::span<std::byte> bytes) {
    const std::scoped_lock lock{mutex_};
    const Ticket ticket = new_ticket();
    const auto message = std::find_if(messages_.begin(), messages_.end(),
                                      [&](const Message& one) { return one.route == route; });
    if (message == messages_.end()) {
        receives_.push_back({route, ticket, bytes});
        return ticket;
    }
    deliver(message->eager ? std::span<const std::byte>{message->copy} : message->bytes, bytes);
    if (!message->eager) {
        ended_[message->ticket] = true;
    }
    ended_[ticket] = true;
    messages_.erase(message);
    return ticket;
}

bool NodeMailbox::done(Ticket ticket) {
    const std::scoped_lock lock{mutex_};
    const auto found = ended_.find(ticket);
    expects(found != ended_.end(), "a ticket is asked for until it is done, not longer");
    if (!found->second) {
        return false;
    }
    ended_.erase(found);
    return true;
}

}  // namespace forebay::adapters
