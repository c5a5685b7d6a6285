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
    ended_[++last_].reset();
    return last_;
}

NodeMailbox::Ticket NodeMailbox::send(const Route& route, std::span<const std::byte> bytes) {
    const std::scoped_lock lock{mutex_};
    const Ticket ticket = new_ticket();
    const auto wish = std::find_if(receives_.begin(), receives_.end(),
                                   [&](const PostedReceive& one) { return one.route == route; });
    if (wish != receives_.end()) {
        deliver(bytes, wish->bytes);
        ended_[wish->ticket] = bytes.size();
        ended_[ticket] = bytes.size();
        receives_.erase(wish);
        return ticket;
    }
    Message message{route, ticket, bytes, {}, bytes.size() <= eager_bytes_};
    if (message.eager) {
        message.copy.assign(bytes.begin(), bytes.end());
        ended_[ticket] = bytes.size();
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
    const std::span<const std::byte> sent = message->eager ? message->copy : message->bytes;
    deliver(sent, bytes);
    if (!message->eager) {
        ended_[message->ticket] = sent.size();
    }
    ended_[ticket] = sent.size();
    messages_.erase(message);
    return ticket;
}

std::optional<std::size_t> NodeMailbox::done(Ticket ticket) {
    const std::scoped_lock lock{mutex_};
    const auto found = ended_.find(ticket);
    expects(found != ended_.end(), "a ticket is asked for until it is done, not longer");
    const std::optional<std::size_t> bytes = found->second;
    if (bytes) {
        ended_.erase(found);
    }
    return bytes;
}

}  // namespace forebay::adapters
