// Passes questions and events to the TokenMember, and carries out the actions that it decides on.
#include "pool/cluster/coherence/coherence_client.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::cluster {

namespace {

void keep(const std::vector<std::uint64_t>& tickets, std::set<std::uint64_t>& waiting) {
    const std::size_t before = waiting.size();
    waiting.insert(tickets.begin(), tickets.end());
    invariant(waiting.size() == before + tickets.size(), "a ticket of the pool has one answer");
}

}  // namespace

CoherenceClient::CoherenceClient(const Job& job, pool::Pool& pool)
    : post_{job.post}, pool_{pool}, member_{job.self, job.nodes, job.readers} {}

std::optional<tokens::FileAdmission> CoherenceClient::settle(tokens::FileKey file,
                                                             std::uint64_t ticket) {
    const auto admission = member_.settle(file, ticket);
    apply();
    return admission;
}

std::optional<tokens::FileAdmission> CoherenceClient::want(tokens::FileKey file,
                                                           const tokens::TokenWish& wish,
                                                           std::uint64_t ticket) {
    const auto admission = member_.want(file, wish, ticket);
    apply();
    return admission;
}

bool CoherenceClient::entered(tokens::FileKey file, std::uint32_t slot) {
    const auto place = slots_.emplace(slot, file).first;
    invariant(place->second == file, "the pool uses a slot again when it was forgotten here");
    const bool may_cache = member_.entered(file, slot);
    apply();
    return may_cache;
}

void CoherenceClient::not_entered(tokens::FileKey file) {
    member_.not_entered(file);
    apply();
}

void CoherenceClient::abandon(tokens::FileKey file, std::uint64_t ticket) {
    member_.abandon(file, ticket);
    apply();
}

bool CoherenceClient::forget() {
    bool any = false;
    for (const std::uint32_t slot : pool_.forgotten()) {
        slots_.erase(slot);
        member_.forgotten(slot);
        any = true;
    }
    apply();
    return any;
}

void CoherenceClient::receive() {
    for (const PeerTransport::PeerMessage& message : post_.arrived()) {
        member_.receive(message.from, message.message);
    }
    for (const tokens::Node node : post_.gone()) {
        member_.lost(node);
    }
    if (member_.waiting() > 0 && post_.anybody_silent()) {
        member_.refuse_waiting();
    }
    apply();
}

void CoherenceClient::apply() {
    for (tokens::MemberActions actions = member_.take_actions(); !actions.empty();
         actions = member_.take_actions()) {
        for (const tokens::OutgoingMessage& one : actions.send) {
            post_.send(one.to, one.message);
        }
        for (const tokens::MemberActions::Leave& order : actions.leave) {
            leave(order);
        }
        for (const tokens::MemberActions::Drain& order : actions.drain) {
            drain(order);
        }
        again_.insert(again_.end(), actions.again.begin(), actions.again.end());
        closes_down_ = closes_down_ || actions.close_down;
        died_ = died_ || actions.died;
    }
}

void CoherenceClient::leave(const tokens::MemberActions::Leave& order) {
    const auto tickets = pool_.ask_each(order.slots, pool::leave_to_other_nodes);
    expects(!tickets.empty(), "a file leaves where it has a slot");
    keep(tickets, order.answer ? leaving_[order.file].tickets : ignored_);
}

void CoherenceClient::drain(const tokens::MemberActions::Drain& order) {
    const auto tickets = pool_.ask_each(order.slots, pool::FileTask{});
    expects(!tickets.empty(), "a file is drained where it has a slot");
    const auto [waiting, is_new] = draining_.try_emplace({order.file, order.number});
    invariant(is_new, "an order to drain has a number of its own");
    keep(tickets, waiting->second.tickets);
}

template <class Key, class Tell>
bool CoherenceClient::answered(std::map<Key, Leaving>& orders, const pool::TaskCompletion& done,
                               Tell tell) {
    const auto found = std::ranges::find_if(
        orders, [&](const auto& one) { return one.second.tickets.contains(done.ticket); });
    if (found == orders.end()) {
        return false;
    }
    if (found->second.take(done)) {
        const auto [key, order] = *found;
        orders.erase(found);
        tell(key, order.drained);
        apply();
    }
    return true;
}

bool CoherenceClient::took(const pool::TaskCompletion& done) {
    if (ignored_.erase(done.ticket) > 0) {
        return true;
    }
    if (closing_ == done.ticket) {
        closing_.reset();
        member_.closed_down(stuck());
        apply();
        return true;
    }
    return answered(leaving_, done,
                    [&](tokens::FileKey file, bool all) { member_.left(file, all); }) ||
           answered(draining_, done, [&](const auto& key, bool all) {
               member_.drained(key.first, key.second, all);
           });
}

bool CoherenceClient::Leaving::take(const pool::TaskCompletion& done) {
    const bool waited = tickets.erase(done.ticket) > 0;
    expects(waited, "the answer is to one of these tickets");
    // ENOENT: the pool had forgotten the file before it was asked, so nothing was left to be
    // drained.
    drained = drained && (done.error == 0 || done.error == ENOENT);
    return tickets.empty();
}

std::vector<std::uint64_t> CoherenceClient::again() { return std::exchange(again_, {}); }

bool CoherenceClient::closes_down() { return std::exchange(closes_down_, false); }

// The files of which this node still has deposits.
std::vector<tokens::FileKey> CoherenceClient::stuck() const {
    std::set<tokens::FileKey> files;
    for (const auto& [slot, key] : slots_) {
        if (!pool_.undrained(slot).empty()) {
            files.insert(key);
        }
    }
    return {files.begin(), files.end()};
}

void CoherenceClient::announce_shutdown() {
    if (!member_.peer_lost() || closing_) {
        member_.closed_down(stuck());  // nobody has told the others yet what is stuck here
    }
    member_.announce_shutdown();
    apply();
}

}  // namespace forebay::cluster
