// Combines this node's own tokens (OwnTokens) with the files that its pool knows, and the Home that
// it is for others.
#include "pool/cluster/tokens/member.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::tokens {

namespace {

using Kind = TokenMessage::Kind;

bool is_for_home(Kind kind) noexcept {
    return kind == Kind::ask || kind == Kind::given_back || kind == Kind::forgotten;
}

// `entering` counts clients that were admitted to a file, and for which neither entered() nor
// not_entered() was called yet.
void end_entering(std::int32_t& entering) noexcept {
    expects(entering > 0, "a client that was admitted enters once, or not at all");
    --entering;
}

void append(std::vector<std::uint64_t>& to, std::vector<std::uint64_t> from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

TokenMember::TokenMember(Node self, std::uint32_t nodes, std::uint32_t readers)
    : self_{self}, tokens_{self, nodes}, home_{readers} {
    for (Node node = 0; node < nodes; ++node) {
        if (node != self) {
            others_.insert(node);
        }
    }
    ensures(others_.size() + 1 == nodes, "this daemon is one of its job");
}

std::optional<FileAdmission> TokenMember::want(FileKey file, const TokenWish& wish,
                                               std::uint64_t ticket) {
    const bool promised = promised_.erase(ticket) > 0;
    const std::optional<FileAdmission> admission = admit(file, wish, ticket);
    if (promised && (!admission || admission == FileAdmission::refused)) {
        not_entered(file);
    } else if (!promised && admission && admission != FileAdmission::refused) {
        ++known_[file].entering;
    }
    return admission;
}

std::optional<FileAdmission> TokenMember::admit(FileKey file, const TokenWish& wish,
                                                std::uint64_t ticket) {
    if (refused_.erase(ticket) > 0) {
        return FileAdmission::refused;
    }
    if (peer_lost_) {
        return admit_after_loss(file, ticket);
    }
    const std::optional<Token> token = tokens_.want(file, wish, ticket, actions_.send);
    if (token) {
        return token == Token::through ? FileAdmission::through : FileAdmission::cached;
    }
    deliver();
    // If this daemon is the home, the answer may be there already.
    const bool at_once = std::erase(actions_.again, ticket) > 0;
    if (at_once && promised_.erase(ticket) > 0) {
        end_entering(known_[file].entering);
    }
    return at_once ? admit(file, wish, ticket) : std::nullopt;
}

std::optional<FileAdmission> TokenMember::settle(FileKey file, std::uint64_t ticket) {
    if (refused_.erase(ticket) > 0) {
        return FileAdmission::refused;
    }
    if (settled_.erase(ticket) > 0) {
        return FileAdmission::cached;
    }
    if (peer_lost_) {
        return admit_after_loss(file, ticket);
    }
    if (tokens_.settle(file, ticket, actions_.send)) {
        return FileAdmission::cached;
    }
    deliver();
    return std::erase(actions_.again, ticket) > 0 ? settle(file, ticket) : std::nullopt;
}

void TokenMember::abandon(FileKey file, std::uint64_t ticket) {
    refused_.erase(ticket);
    settled_.erase(ticket);
    if (promised_.erase(ticket) > 0) {
        not_entered(file);
    }
}

// Admission after another daemon has gone: only when all daemons have drained everything.
std::optional<FileAdmission> TokenMember::admit_after_loss(FileKey file, std::uint64_t ticket) {
    if (!closed_down_ || !std::ranges::includes(drained_, others_)) {
        waiting_.push_back(ticket);
        return std::nullopt;
    }
    if (stuck_.contains(file)) {
        return FileAdmission::refused;
    }
    return FileAdmission::through;
}

bool TokenMember::entered(FileKey file, std::uint32_t slot) {
    // The token may have become `through` while the file was being opened here. A file that was
    // known then has left the pool; but if the clients that had it open have closed it since, the
    // pool does not remember that.
    const bool may_cache = tokens_.token_of(file) != Token::through;
    Known& known = known_[file];
    end_entering(known.entering);
    known.slots.insert(slot);
    const auto place = by_slot_.emplace(slot, file).first;
    invariant(place->second == file, "a slot has one file until it is forgotten");
    give_back_if_nobody_enters(file);
    return may_cache;
}

void TokenMember::not_entered(FileKey file) {
    end_entering(known_[file].entering);
    give_back_if_nobody_enters(file);
    tidy(file);
}

void TokenMember::forgotten(std::uint32_t slot) {
    const auto found = by_slot_.find(slot);
    if (found == by_slot_.end()) {
        return;
    }
    const FileKey file = found->second;
    by_slot_.erase(found);
    const auto known = known_.find(file);
    invariant(known != known_.end(), "a file with a slot is known");
    const bool had_it = known->second.slots.erase(slot) > 0;
    invariant(had_it, "a slot is its file's");
    tidy(file);
}

// Gives the token back when this node does not know the file any more.
void TokenMember::tidy(FileKey file) {
    const auto known = known_.find(file);
    if (known != known_.end()) {
        if (!known->second.slots.empty() || known->second.entering > 0) {
            return;
        }
        invariant(known->second.entering == 0, "nobody enters more often than was admitted");
        known_.erase(known);
    }
    tokens_.forget(file, actions_.send);
    deliver();
}

// A revoked token is given back once no client is entering: the file leaves first, if it has a
// slot.
void TokenMember::give_back_if_nobody_enters(FileKey file) {
    const auto known = known_.find(file);
    if (known == known_.end() || known->second.entering > 0 || !known->second.revoked) {
        return;
    }
    known->second.revoked = false;
    if (!known->second.slots.empty()) {
        known->second.leaving = true;
        const auto& slots = known->second.slots;
        invariant(by_slot_.contains(*slots.begin()), "a slot that leaves can be forgotten");
        actions_.leave.push_back({file, {slots.begin(), slots.end()}, true});
    }
}

void TokenMember::left(FileKey file, bool drained) {
    const auto known = known_.find(file);
    if (known == known_.end() || !std::exchange(known->second.leaving, false)) {
        return;  // the file was forgotten, and its token given back by that
    }
    if (known->second.slots.empty()) {
        known->second.revoked = true;  // the file was forgotten, and is being opened again
        give_back_if_nobody_enters(file);
        return;
    }
    tokens_.give_back(file, drained ? Token::through : Token::refused, actions_.send);
    deliver();
}

void TokenMember::drained(FileKey file, std::uint64_t number, bool well) {
    const auto known = known_.find(file);
    if (known == known_.end() || known->second.draining != number) {
        return;  // the file was forgotten, and its token given back by that
    }
    known->second.draining = 0;
    tokens_.give_back(file, well ? Token::collective : Token::refused, actions_.send);
    deliver();
}

// Has what is deposited so far drained; clients go on writing meanwhile.
void TokenMember::begin_to_drain(FileKey file) {
    const auto known = known_.find(file);
    if (known == known_.end() || known->second.slots.empty()) {
        tokens_.give_back(file, Token::collective, actions_.send);  // no client has entered yet
        return;
    }
    const auto& slots = known->second.slots;
    known->second.draining = next_draining_++;
    actions_.drain.push_back({file, {slots.begin(), slots.end()}, known->second.draining});
}

void TokenMember::receive(Node from, const TokenMessage& message) {
    expects(from != self_, "a daemon's messages to itself are delivered at once");
    if (is_for_home(message.kind)) {
        home_.receive(from, message, actions_.send);
        deliver();
        return;
    }
    switch (message.kind) {
        case Kind::grant:
        case Kind::revoke: apply(message.file, tokens_.receive(message, actions_.send)); break;
        case Kind::stuck: stuck_.insert(message.file); break;
        case Kind::drained:
            drained_.insert(from);
            bereave();
            break;
        case Kind::farewell:
            drained_.insert(from);
            farewells_.insert(from);
            break;
        default: break;
    }
    deliver();
    settle();
}

void TokenMember::apply(FileKey file, const OwnTokens::Reception& heard) {
    invariant(!heard.revoked || heard.tickets.empty(), "a revoke grants nothing");
    if (heard.settled) {
        (heard.refused ? refused_ : settled_).insert(*heard.settled);
        actions_.again.push_back(*heard.settled);
        return;
    }
    if (heard.drains) {
        begin_to_drain(file);
        return;
    }
    if (heard.refused) {
        refused_.insert(heard.tickets.begin(), heard.tickets.end());
    } else if (!heard.tickets.empty()) {
        // The clients count as entering until they ask again, so that the token is not given back
        // before.
        const std::size_t before = promised_.size();
        promised_.insert(heard.tickets.begin(), heard.tickets.end());
        invariant(promised_.size() == before + heard.tickets.size(),
                  "each ticket is answered once");
        known_[file].entering += static_cast<std::int32_t>(heard.tickets.size());
    }
    append(actions_.again, heard.tickets);
    if (heard.through) {
        const auto& slots = known_[file].slots;
        if (!slots.empty()) {
            actions_.leave.push_back({file, {slots.begin(), slots.end()}, false});
        }
    }
    if (heard.revoked) {
        known_[file].revoked = true;
        give_back_if_nobody_enters(file);
    }
    if (heard.tickets.empty()) {
        tidy(file);  // no client waits for the file any more
    }
}

Parent TokenMember::parent_of(FileKey file) const {
    const Parent parent = tokens_.place_of(file).parent;
    return !peer_lost_ && others_.contains(parent.node) ? parent : Parent{};
}

TokenMember::PassedOn TokenMember::passed_on(FileKey file, std::uint64_t grant) const {
    if (peer_lost_ || grant == 0) {
        return {};
    }
    if (!tokens_.has_heard_of(file, grant)) {
        return {.slots = {}, .later = true};
    }
    const auto known = known_.find(file);
    if (known == known_.end() || tokens_.place_of(file).grant != grant) {
        return {};
    }
    const auto& [slots, entering, revoked, leaving, draining] = known->second;
    return {.slots = {slots.begin(), slots.end()}, .later = slots.empty() && entering > 0};
}

void TokenMember::lost(Node node) {
    expects(node != self_, "this daemon is here");
    if (others_.erase(node) > 0) {
        actions_.died = actions_.died || !farewells_.contains(node);
        bereave();
        settle();
    }
}

// Another daemon is gone: from now on nothing is cached.
void TokenMember::bereave() {
    if (peer_lost_) {
        return;
    }
    peer_lost_ = true;
    actions_.close_down = true;
    append(waiting_, tokens_.drop_waiting());
}

void TokenMember::closed_down(const std::vector<FileKey>& stuck) {
    closed_down_ = true;
    for (const FileKey file : stuck) {
        say_to_all({.kind = Kind::stuck, .token = Token::none, .file = file, .number = 0});
    }
    say_to_all({.kind = Kind::drained, .token = Token::none, .file = {}, .number = 0});
    settle();
}

// If a daemon is gone: once all daemons have drained everything, clients that waited for that can
// go on.
void TokenMember::settle() {
    if (peer_lost_ && closed_down_ && std::ranges::includes(drained_, others_)) {
        append(actions_.again, std::exchange(waiting_, {}));
    }
}

void TokenMember::refuse_waiting() {
    append(waiting_, tokens_.drop_waiting());
    refused_.insert(waiting_.begin(), waiting_.end());
    append(actions_.again, std::exchange(waiting_, {}));
    ensures(waiting() == 0, "nobody waits for a daemon that is silent");
}

void TokenMember::announce_shutdown() {
    say_to_all({.kind = Kind::farewell, .token = Token::none, .file = {}, .number = 0});
}

void TokenMember::say_to_all(const TokenMessage& message) {
    for (const Node other : others_) {
        actions_.send.push_back({other, message});
    }
}

// Delivers this daemon's messages to itself at once, as it may be the home of its own files.
void TokenMember::deliver() {
    for (;;) {
        const auto own = std::ranges::find(actions_.send, self_, &OutgoingMessage::to);
        if (own == actions_.send.end()) {
            return;
        }
        const TokenMessage message = own->message;
        actions_.send.erase(own);
        if (is_for_home(message.kind)) {
            home_.receive(self_, message, actions_.send);
        } else {
            apply(message.file, tokens_.receive(message, actions_.send));
        }
    }
}

MemberActions TokenMember::take_actions() { return std::exchange(actions_, {}); }

}  // namespace forebay::tokens
