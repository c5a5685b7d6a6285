#include "registry/tokens.hpp"

#include <numeric>
#include <utility>

namespace forebay::registry {

namespace {

bool enough(Token token, Token wish) noexcept {
    return token == Token::write || token == Token::through ||
           (token == Token::read && wish == Token::read);
}

}  // namespace

void Tokens::say(const Message& message, std::vector<Outgoing>& send) const {
    send.push_back({home_of(message.file, nodes_), message});
}

std::optional<Token> Tokens::want(FileKey file, Token wish, std::uint64_t ticket,
                                  std::vector<Outgoing>& send) {
    File& one = files_[file];
    if (enough(one.token, wish)) {
        return one.token;
    }
    one.tickets.push_back(ticket);
    if (one.asked == Token::none) {
        one.asked = wish;
        say({.kind = Message::Kind::ask, .token = wish, .file = file, .number = 0}, send);
    }
    return std::nullopt;
}

Tokens::Heard Tokens::hear(const Message& message, std::vector<Outgoing>& send) {
    Heard heard;
    if (message.kind == Message::Kind::revoke) {
        const auto found = files_.find(message.file);
        if (found == files_.end() || found->second.token == Token::none) {
            say({.kind = Message::Kind::given_back,
                 .token = Token::none,
                 .file = message.file,
                 .number = message.number},
                send);
        } else {
            found->second.revoking = message.number;
            heard.revoked = true;
        }
    } else if (message.kind == Message::Kind::grant) {
        File& one = files_[message.file];
        one.asked = Token::none;
        heard.tickets = std::exchange(one.tickets, {});
        heard.refused = message.token == Token::refused;
        if (!heard.refused) {
            one.token = message.token;
            heard.through = message.token == Token::through;
        }
    }
    return heard;
}

void Tokens::give_back(FileKey file, Token left, std::vector<Outgoing>& send) {
    const auto found = files_.find(file);
    if (found == files_.end() || found->second.revoking == 0) {
        return;
    }
    File& one = found->second;
    say({.kind = Message::Kind::given_back,
         .token = left,
         .file = file,
         .number = std::exchange(one.revoking, 0)},
        send);
    if (left != Token::refused) {
        one.token = left;
    }
    if (one.token == Token::none && one.asked == Token::none) {
        files_.erase(found);
    }
}

void Tokens::forget(FileKey file, std::vector<Outgoing>& send) {
    const auto found = files_.find(file);
    if (found == files_.end()) {
        return;
    }
    if (found->second.revoking != 0) {
        give_back(file, Token::none, send);
    } else if (found->second.asked == Token::none) {
        // Whoever waits keeps the token that is there: the home would take the two messages for
        // one after the other, and this node would not.
        if (found->second.token != Token::none) {
            say({.kind = Message::Kind::forgotten, .token = Token::none, .file = file, .number = 0},
                send);
        }
        files_.erase(found);
    }
}

std::vector<std::uint64_t> Tokens::drop_waiting() {
    std::vector<std::uint64_t> dropped;
    for (auto& [key, file] : files_) {
        dropped.insert(dropped.end(), file.tickets.begin(), file.tickets.end());
        file.tickets.clear();
    }
    return dropped;
}

Token Tokens::token_of(FileKey file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? Token::none : found->second.token;
}

std::size_t Tokens::waiting() const noexcept {
    return std::accumulate(
        files_.begin(), files_.end(), std::size_t{0},
        [](std::size_t sum, const auto& one) { return sum + one.second.tickets.size(); });
}

}  // namespace forebay::registry
