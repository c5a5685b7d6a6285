// The tokens that this node has, and the clients that wait for one. Pure.
#pragma once

#include "pool/cluster/tokens/token.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace forebay::tokens {

class OwnTokens {
public:
    OwnTokens(Node self, std::uint32_t nodes) noexcept : self_{self}, nodes_{nodes} {}

    // Returns the token that the node has, if it is enough for the wish (read, write or
    // collective). nullopt: the home is asked, and `ticket` will be in a Reception.
    [[nodiscard]] std::optional<Token> want(FileKey file, const TokenWish& wish,
                                            std::uint64_t ticket,
                                            std::vector<OutgoingMessage>& send);
    // True when no other node can have deposits of the file. False: the home is asked to have all
    // nodes drain it, and `ticket` will be in a Reception.
    [[nodiscard]] bool settle(FileKey file, std::uint64_t ticket,
                              std::vector<OutgoingMessage>& send);

    // The consequences of a message of a home.
    struct Reception {
        std::vector<std::uint64_t> tickets;  // to be asked again by want() …
        bool refused = false;                // … or these, or `settled`, are refused
        // A ticket of settle(): all nodes have drained the file, unless `refused`.
        std::optional<std::uint64_t> settled;
        // The token is revoked: the file is to be drained, and nothing of it cached any more; then
        // call give_back().
        bool revoked = false;
        // The file is to be drained, and may stay cached; then call give_back().
        bool drains = false;
        bool through = false;  // nothing of the file may be cached any more
    };
    // Takes a grant or a revoke.
    [[nodiscard]] Reception receive(const TokenMessage& message,
                                    std::vector<OutgoingMessage>& send);

    // Answers a revoke. After `revoked`, `left` is `none` if this node does not know the file any
    // more, `through` if it does, or `refused` if some of the file could not be drained. After
    // `drains`, it is `collective` or `refused`. Does nothing if the token was given back already.
    void give_back(FileKey file, Token left, std::vector<OutgoingMessage>& send);
    // No client of this node has the file open, and everything is drained: gives the token back.
    void forget(FileKey file, std::vector<OutgoingMessage>& send);
    // Nobody waits for tokens any more. Returns the tickets that did.
    [[nodiscard]] std::vector<std::uint64_t> drop_waiting();

    [[nodiscard]] Token token_of(FileKey file) const;
    // The grant of this node's `read` token, and the parent that came with it. Both are 0 if there
    // is no such token, or each node reads for itself.
    struct Place {
        std::uint64_t grant = 0;
        Parent parent;
    };
    [[nodiscard]] Place place_of(FileKey file) const;
    // True when this grant of the file's home to this node, or a later one, has arrived.
    [[nodiscard]] bool has_heard_of(FileKey file, std::uint64_t grant) const;
    [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
    [[nodiscard]] std::size_t waiting() const noexcept;
    auto operator<=>(const OwnTokens&) const noexcept = default;

private:
    struct File {
        Token token = Token::none;
        // The token was revoked and is `through` since: other nodes may still have bytes of the
        // file, until the home has answered again.
        bool others_may_cache = false;
        bool nowhere = false;     // it is `through`, and no node has deposits of it any more
        std::uint64_t group = 0;  // of the `collective` token
        TokenWish asked;          // what the home was asked for; none: nothing
        std::uint64_t grant = 0;  // of the `read` token
        Parent parent;
        std::uint64_t revoking = 0;  // number of the revoke that is to be answered; 0: none
        std::vector<std::uint64_t> tickets;
        // Tickets of settle(), by the number of the question.
        std::map<std::uint64_t, std::uint64_t> settling;
        auto operator<=>(const File&) const noexcept = default;
    };

    [[nodiscard]] Reception hear_revoke(const TokenMessage& message,
                                        std::vector<OutgoingMessage>& send);
    void erase_if_empty(FileKey file);
    void say(const TokenMessage& message, std::vector<OutgoingMessage>& send) const;

    Node self_;
    std::uint32_t nodes_;
    std::uint64_t next_number_ = 1;  // of the next question for `settled`
    std::map<FileKey, File> files_;
    std::map<Node, std::uint64_t> last_grants_;  // the last grant of each home to this node
};

}  // namespace forebay::tokens
