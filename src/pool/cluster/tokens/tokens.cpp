// Keeps the state of each file's token on this node, and builds the messages to its home.
#include "pool/cluster/tokens/tokens.hpp"

#include "foundation/base/contracts.hpp"

#include <numeric>
#include <utility>

namespace forebay::tokens {

namespace {

// True when a node that has the token `there` need not ask for the wish.
bool enough(const TokenWish& there, const TokenWish& wish) noexcept {
    switch (there.token) {
        case Token::through: return true;
        case Token::write: return wish.token == Token::read || wish.token == Token::write;
        case Token::read: return wish.token == Token::read;
        case Token::collective: return wish == there;
        default: return false;
    }
}

}  // namespace

void OwnTokens::say(const TokenMessage& message, std::vector<OutgoingMessage>& send) const {
    expects(self_ < nodes_, "a daemon is one of its job");
    send.push_back({home_of(message.file, nodes_), message});
}

std::optional<Token> OwnTokens::want(FileKey file, const TokenWish& wish, std::uint64_t ticket,
                                     std::vector<OutgoingMessage>& send) {
    expects(
        wish.token == Token::read || wish.token == Token::write || wish.token == Token::collective,
        "a client wants to read, to write, or to write together with others");
    File& one = files_[file];
    invariant(one.tickets.empty() || one.asked.token != Token::none,
              "those who wait for a token have asked for one");
    if (enough({one.token, one.group}, wish) && !one.others_may_cache) {
        return one.token;
    }
    one.tickets.push_back(ticket);
    if (one.asked.token == Token::none) {
        one.asked = wish;
        say({.kind = TokenMessage::Kind::ask,
             .token = wish.token,
             .file = file,
             .number = wish.group},
            send);
    }
    return std::nullopt;
}

bool OwnTokens::settle(FileKey file, std::uint64_t ticket, std::vector<OutgoingMessage>& send) {
    const auto found = files_.find(file);
    if (found == files_.end()) {
        return true;
    }
    // After this node has given its token back, other nodes may still be draining.
    const Token token = found->second.token;
    if (token != Token::collective && (token != Token::through || found->second.nowhere)) {
        return true;
    }
    const std::uint64_t number = next_number_++;
    const bool is_new = found->second.settling.emplace(number, ticket).second;
    invariant(is_new, "each question has a number of its own");
    say({.kind = TokenMessage::Kind::ask, .token = Token::settled, .file = file, .number = number},
        send);
    return false;
}

OwnTokens::Reception OwnTokens::receive(const TokenMessage& message,
                                        std::vector<OutgoingMessage>& send) {
    if (message.kind == TokenMessage::Kind::revoke) {
        return hear_revoke(message, send);
    }
    Reception heard;
    if (message.kind != TokenMessage::Kind::grant) {
        return heard;
    }
    heard.refused = message.token == Token::refused;
    File& one = files_[message.file];
    if (message.number != 0) {
        const auto asked = one.settling.find(message.number);
        if (asked != one.settling.end()) {
            heard.settled = asked->second;
            one.settling.erase(asked);
            one.nowhere = !heard.refused && one.token == Token::through;
        }
        erase_if_empty(message.file);
        return heard;
    }
    const TokenWish asked = std::exchange(one.asked, {});
    heard.tickets = std::exchange(one.tickets, {});
    if (!heard.refused) {
        one.token = message.token;
        one.others_may_cache = false;
        one.nowhere = false;
        one.group = message.token == Token::collective ? asked.group : 0;
        one.grant = message.grant;
        one.parent = message.parent;
        if (message.grant != 0) {
            last_grants_[home_of(message.file, nodes_)] = message.grant;
        }
        heard.through = message.token == Token::through;
    }
    return heard;
}

OwnTokens::Reception OwnTokens::hear_revoke(const TokenMessage& message,
                                            std::vector<OutgoingMessage>& send) {
    Reception heard;
    const auto found = files_.find(message.file);
    if (found == files_.end() || found->second.token == Token::none) {
        say({.kind = TokenMessage::Kind::given_back,
             .token = Token::none,
             .file = message.file,
             .number = message.number},
            send);
        return heard;
    }
    found->second.revoking = message.number;
    heard.drains = message.token == Token::collective;
    heard.revoked = !heard.drains;
    return heard;
}

void OwnTokens::erase_if_empty(FileKey file) {
    const auto found = files_.find(file);
    if (found != files_.end() && found->second.token == Token::none &&
        found->second.asked.token == Token::none && found->second.settling.empty()) {
        invariant(found->second.tickets.empty(), "nobody waits for a token that nobody asked for");
        files_.erase(found);
    }
}

void OwnTokens::give_back(FileKey file, Token left, std::vector<OutgoingMessage>& send) {
    expects(left == Token::none || left == Token::through || left == Token::collective ||
                left == Token::refused,
            "what is given back does not stay here");
    const auto found = files_.find(file);
    if (found == files_.end() || found->second.revoking == 0) {
        return;
    }
    File& one = found->second;
    say({.kind = TokenMessage::Kind::given_back,
         .token = left,
         .file = file,
         .number = std::exchange(one.revoking, 0)},
        send);
    if (left != Token::refused) {
        one.token = left;
        one.others_may_cache = left == Token::through;
        one.nowhere = false;
        one.grant = 0;
        one.parent = {};
    }
    erase_if_empty(file);
}

void OwnTokens::forget(FileKey file, std::vector<OutgoingMessage>& send) {
    const auto found = files_.find(file);
    if (found == files_.end()) {
        return;
    }
    if (found->second.revoking != 0) {
        give_back(file, Token::none, send);
    } else if (found->second.asked.token == Token::none) {
        // A node that is waiting for another token keeps the one that it has: its `forgotten` could
        // cross the grant, and then home and node would disagree about the token.
        if (found->second.token != Token::none) {
            say({.kind = TokenMessage::Kind::forgotten,
                 .token = Token::none,
                 .file = file,
                 .number = 0},
                send);
        }
        found->second.token = Token::none;
        found->second.others_may_cache = false;
        found->second.nowhere = false;
        found->second.grant = 0;
        found->second.parent = {};
        erase_if_empty(file);
    }
}

std::vector<std::uint64_t> OwnTokens::drop_waiting() {
    std::vector<std::uint64_t> dropped;
    for (auto& [key, file] : files_) {
        dropped.insert(dropped.end(), file.tickets.begin(), file.tickets.end());
        file.tickets.clear();
        for (const auto& [number, ticket] : file.settling) {
            dropped.push_back(ticket);
        }
        file.settling.clear();
    }
    ensures(waiting() == 0, "nobody waits any more");
    return dropped;
}

Token OwnTokens::token_of(FileKey file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? Token::none : found->second.token;
}

OwnTokens::Place OwnTokens::place_of(FileKey file) const {
    const auto found = files_.find(file);
    const bool reads = found != files_.end() && found->second.token == Token::read;
    return reads ? Place{found->second.grant, found->second.parent} : Place{};
}

bool OwnTokens::has_heard_of(FileKey file, std::uint64_t grant) const {
    const auto last = last_grants_.find(home_of(file, nodes_));
    return last != last_grants_.end() && last->second >= grant;
}

std::size_t OwnTokens::waiting() const noexcept {
    return std::accumulate(files_.begin(), files_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& one) {
                               return sum + one.second.tickets.size() + one.second.settling.size();
                           });
}

}  // namespace forebay::tokens
