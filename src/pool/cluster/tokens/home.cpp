// A home handles one wish for a file at a time. While it waits for tokens to be given back, further
// wishes for the file queue up.
#include "pool/cluster/tokens/home.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::tokens {

namespace {

// Invariant: whether nodes may hold these tokens at the same time, just after `granted`, a token by
// which a node may cache the file, was given to one of them.
bool are_consistent(const std::map<Node, Token>& tokens, Token granted) noexcept {
    const bool alone = granted != Token::write || tokens.size() == 1;
    return alone &&
           std::ranges::all_of(tokens, [&](const auto& one) { return one.second == granted; });
}

}  // namespace

Token Home::token_of(Node node, FileKey file) const {
    const auto found = files_.find(file);
    if (found == files_.end()) {
        return Token::none;
    }
    const auto token = found->second.tokens.find(node);
    return token == found->second.tokens.end() ? Token::none : token->second;
}

void Home::receive(Node from, const TokenMessage& message, std::vector<OutgoingMessage>& send) {
    expects(message.kind == TokenMessage::Kind::ask ||
                message.kind == TokenMessage::Kind::given_back ||
                message.kind == TokenMessage::Kind::forgotten,
            "a home hears what is for a home");
    File& file = files_[message.file];
    switch (message.kind) {
        case TokenMessage::Kind::ask:
            file.wishes.push_back({from, message.token, message.number});
            break;
        case TokenMessage::Kind::forgotten:
            give(file, from, Token::none);
            if (file.revoking) {
                file.revoking->awaited.erase(from);
            }
            break;
        case TokenMessage::Kind::given_back: take_back(file, from, message); break;
        default: break;
    }
    go_on(message.file, file, send);
    invariant(!file.revoking || !file.revoking->awaited.empty(),
              "a wish waits for another node, or is granted");
    invariant(file.revoking || file.wishes.empty(), "a wish queues behind one that waits");
    invariant(file.reading.size() <= file.tokens.size(), "a node of the tree has its token");
    if (file.tokens.empty() && file.wishes.empty() && !file.revoking) {
        files_.erase(message.file);
    }
}

// Notes which token the node has from now on.
void Home::give(File& file, Node node, Token token) {
    expects(token != Token::refused && token != Token::settled, "an answer is no token");
    std::erase_if(file.reading, [node](const Parent& one) { return one.node == node; });
    if (token == Token::none) {
        file.tokens.erase(node);
    } else {
        file.tokens[node] = token;
    }
}

// The parent of the node that is granted `read` next. The first `readers_` nodes have none; the
// others form trees in the order of their grants, so that each node comes after its parent.
Parent Home::parent_of_next(const File& file) const noexcept {
    expects(readers_ > 0, "few nodes read for all");
    const std::size_t before = file.reading.size();
    if (before < readers_) {
        return {};
    }
    const std::size_t parent = (before - readers_) / children_max;
    invariant(parent < before, "a node comes after its parent");
    return file.reading[parent];
}

// A node's answer to a revoke. If its number is an earlier one, that revoke was already answered by
// a `forgotten` that crossed it. A node that does not give its token back, because it cannot drain
// the file, causes the wish to be refused.
void Home::take_back(File& file, Node from, const TokenMessage& message) {
    if (!file.revoking || file.revoking->number != message.number ||
        file.revoking->awaited.erase(from) == 0) {
        return;
    }
    switch (message.token) {
        case Token::none:
        case Token::through: give(file, from, message.token); break;
        case Token::collective:  // the node has drained the file, and keeps its token
            file.revoking->refused =
                file.revoking->refused || file.revoking->wish.token != Token::settled;
            break;
        default: file.revoking->refused = true; break;
    }
}

// True when the token must be revoked before the wish can be granted.
bool Home::conflicts(Node node, Token token, const File& file, const Asked& wish) noexcept {
    const bool own = node == wish.node;
    switch (token) {
        case Token::read:
            return wish.token == Token::collective || (wish.token == Token::write && !own);
        case Token::write:
            return wish.token != Token::settled && (wish.token == Token::collective || !own);
        // Also if the node that asks has it: it wants to write otherwise than by collective calls.
        case Token::collective: return wish.token != Token::collective || file.group != wish.number;
        default: return false;
    }
}

// Revokes the tokens that are in the way of the wish.
Home::Revoking Home::revoke(FileKey key, const File& file, const Asked& wish,
                            std::vector<OutgoingMessage>& send) {
    expects(!file.revoking, "one wish of a file waits at a time");
    Revoking revoking{.wish = wish, .number = next_number_++, .awaited = {}, .refused = false};
    const Token left = wish.token == Token::settled ? Token::collective : Token::none;
    for (const auto& [node, token] : file.tokens) {
        if (conflicts(node, token, file, wish)) {
            revoking.awaited.insert(node);
            send.push_back({node,
                            {.kind = TokenMessage::Kind::revoke,
                             .token = left,
                             .file = key,
                             .number = revoking.number}});
        }
    }
    return revoking;
}

// Takes wishes from the queue and grants them, until one has to wait for other nodes.
void Home::go_on(FileKey key, File& file, std::vector<OutgoingMessage>& send) {
    for (;;) {
        if (!file.revoking && !file.wishes.empty()) {
            const Asked wish = file.wishes.front();
            file.wishes.pop_front();
            file.revoking = revoke(key, file, wish, send);
        }
        if (!file.revoking || !file.revoking->awaited.empty() || revoke_own(key, file, send)) {
            return;
        }
        const Revoking ended = *std::exchange(file.revoking, std::nullopt);
        grant(key, file, ended, send);
    }
}

// True when some node writes the file through: then every node must.
bool Home::is_shared(const File& file) noexcept {
    return std::ranges::any_of(file.tokens,
                               [](const auto& one) { return one.second == Token::through; });
}

// The node that asks may itself have `read`, and will be told `through`: it must drop its
// read-cache blocks before another node writes, so its token is revoked, too. False: there is no
// need.
bool Home::revoke_own(FileKey key, File& file, std::vector<OutgoingMessage>& send) {
    expects(file.revoking && file.revoking->awaited.empty(), "all others have answered");
    Revoking& now = *file.revoking;
    const auto own = file.tokens.find(now.wish.node);
    if (now.refused || now.wish.token == Token::settled || own == file.tokens.end() ||
        own->second != Token::read || !is_shared(file)) {
        return false;
    }
    now.awaited.insert(now.wish.node);
    send.push_back({now.wish.node,
                    {.kind = TokenMessage::Kind::revoke,
                     .token = Token::none,
                     .file = key,
                     .number = now.number}});
    return true;
}

// Answers the wish: with the token, with `through`, or with a refusal.
void Home::grant(FileKey key, File& file, const Revoking& ended,
                 std::vector<OutgoingMessage>& send) {
    expects(ended.awaited.empty(), "all that were asked have answered");
    const bool settles = ended.wish.token == Token::settled;
    const Token token = ended.refused                 ? Token::refused
                        : is_shared(file) && !settles ? Token::through
                                                      : ended.wish.token;
    if (token == Token::collective) {
        file.group = ended.wish.number;
    }
    if (token != Token::refused && !settles) {
        give(file, ended.wish.node, token);
    }
    if (token == Token::read || token == Token::write || token == Token::collective) {
        ensures(are_consistent(file.tokens, token),
                "no node caches a file that another one may change, unless they do it together");
    }
    TokenMessage message{.kind = TokenMessage::Kind::grant,
                         .token = token,
                         .file = key,
                         .number = settles ? ended.wish.number : 0};
    if (token == Token::read && readers_ > 0) {
        message.grant = next_number_++;
        message.parent = parent_of_next(file);
        ensures(message.parent.grant < message.grant && message.grant != 0,
                "no node waits for one that came later");
        file.reading.push_back({ended.wish.node, message.grant});
    }
    send.push_back({ended.wish.node, message});
}

}  // namespace forebay::tokens
