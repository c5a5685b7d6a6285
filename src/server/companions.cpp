#include "server/companions.hpp"

#include "base/atomics.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace forebay::server {

Companions::Companions(const Job& job, pool::Pool& pool, const pool::Directory& directory)
    : post_{job.post},
      pool_{pool},
      directory_{directory},
      member_{job.self, job.nodes, job.readers} {}

std::optional<registry::Admission> Companions::settle(registry::FileKey file,
                                                      std::uint64_t ticket) {
    const auto admission = member_.settle(file, ticket);
    obey();
    return admission;
}

std::optional<registry::Admission> Companions::want(registry::FileKey file,
                                                    const registry::Wish& wish,
                                                    std::uint64_t ticket) {
    const auto admission = member_.want(file, wish, ticket);
    obey();
    return admission;
}

bool Companions::entered(registry::FileKey file, std::uint32_t slot) {
    slots_[slot] = file;
    const bool may_cache = member_.entered(file, slot);
    obey();
    return may_cache;
}

void Companions::not_entered(registry::FileKey file) {
    member_.not_entered(file);
    obey();
}

void Companions::abandon(registry::FileKey file, std::uint64_t ticket) {
    member_.abandon(file, ticket);
    obey();
}

bool Companions::turn() {
    bool any = false;
    for (const std::uint32_t slot : pool_.forgotten()) {
        slots_.erase(slot);
        member_.forgotten(slot);
        any = true;
    }
    for (const Post::Letter& letter : post_.arrived()) {
        member_.hear(letter.from, letter.message);
        any = true;
    }
    for (const registry::Node node : post_.gone()) {
        member_.lost(node);
        any = true;
    }
    if (member_.waiting() > 0 && post_.anybody_silent()) {
        member_.refuse_waiting();
        any = true;
    }
    obey();
    return any;
}

void Companions::obey() {
    for (registry::Actions actions = member_.take_actions(); !actions.empty();
         actions = member_.take_actions()) {
        for (const registry::Outgoing& one : actions.send) {
            post_.send(one.to, one.message);
        }
        for (const registry::Actions::Leave& order : actions.leave) {
            leave(order);
        }
        for (const registry::Actions::Drain& order : actions.drain) {
            drain(order);
        }
        again_.insert(again_.end(), actions.again.begin(), actions.again.end());
        closes_down_ = closes_down_ || actions.close_down;
        died_ = died_ || actions.died;
    }
}

void Companions::leave(const registry::Actions::Leave& order) {
    pool::Task task;
    task.kind = pool::Task::Kind::leave;
    task.reason = pool::Reason::other_nodes;
    for (const std::uint32_t slot : order.slots) {
        const std::uint64_t ticket =
            pool_.ask(slot, directory_.files[slot].generation.load(relaxed), task);
        if (order.answer) {
            leaving_[order.file].tickets.insert(ticket);
        } else {
            ignored_.insert(ticket);
        }
    }
}

void Companions::drain(const registry::Actions::Drain& order) {
    Leaving& one = draining_[{order.file, order.number}];
    for (const std::uint32_t slot : order.slots) {
        one.tickets.insert(
            pool_.ask(slot, directory_.files[slot].generation.load(relaxed), pool::Task{}));
    }
}

bool Companions::took(const pool::Done& done) {
    if (ignored_.erase(done.ticket) > 0) {
        return true;
    }
    if (closing_ == done.ticket) {
        closing_.reset();
        member_.closed_down(stuck());
        obey();
        return true;
    }
    return left(done) || drained(done);
}

bool Companions::Leaving::take(const pool::Done& done) {
    tickets.erase(done.ticket);
    // ENOENT: it was forgotten before it was asked.
    drained = drained && (done.error == 0 || done.error == ENOENT);
    return tickets.empty();
}

bool Companions::left(const pool::Done& done) {
    const auto found = std::ranges::find_if(
        leaving_, [&](const auto& one) { return one.second.tickets.contains(done.ticket); });
    if (found == leaving_.end()) {
        return false;
    }
    if (found->second.take(done)) {
        const auto [file, leaving] = *found;
        leaving_.erase(found);
        member_.left(file, leaving.drained);
        obey();
    }
    return true;
}

bool Companions::drained(const pool::Done& done) {
    const auto found = std::ranges::find_if(
        draining_, [&](const auto& one) { return one.second.tickets.contains(done.ticket); });
    if (found == draining_.end()) {
        return false;
    }
    if (found->second.take(done)) {
        const auto [key, draining] = *found;
        draining_.erase(found);
        member_.drained(key.first, key.second, draining.drained);
        obey();
    }
    return true;
}

std::vector<std::uint64_t> Companions::again() { return std::exchange(again_, {}); }

bool Companions::closes_down() { return std::exchange(closes_down_, false); }

// Files of which something is still here.
std::vector<registry::FileKey> Companions::stuck() const {
    std::set<registry::FileKey> files;
    for (const auto& [slot, key] : slots_) {
        if (!pool_.undrained(slot).empty()) {
            files.insert(key);
        }
    }
    return {files.begin(), files.end()};
}

void Companions::say_farewell() {
    if (!member_.bereaved() || closing_) {
        member_.closed_down(stuck());  // nobody has told the others yet
    }
    member_.say_farewell();
    obey();
}

}  // namespace forebay::server
