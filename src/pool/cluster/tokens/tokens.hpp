// The tokens that this daemon has, and those who wait for one.
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

    // The token that is there, if it is enough for the wish (read, write or collective). nullopt:
    // the home was asked, and `ticket` comes back in Reception.
    [[nodiscard]] std::optional<Token> want(FileKey file, const TokenWish& wish,
                                            std::uint64_t ticket,
                                            std::vector<OutgoingMessage>& send);
    // Whether no other node can have deposits of it. False: the home was asked to have all nodes
    // drain it, and `ticket` comes back in Reception.
    [[nodiscard]] bool settle(FileKey file, std::uint64_t ticket,
                              std::vector<OutgoingMessage>& send);

    struct Reception {
        std::vector<std::uint64_t> tickets;    // call want() again for these, or …
        bool refused = false;                  // … they cannot be helped
        std::optional<std::uint64_t> settled;  // or of settle(): it is, unless refused
        // The file is to be drained, and nothing of it is to be cached any more; then give_back().
        bool revoked = false;
        bool drains = false;   // the file is to be drained, no more; then give_back()
        bool through = false;  // nothing of the file is to be cached any more
    };
    // A grant or a revoke.
    [[nodiscard]] Reception receive(const TokenMessage& message,
                                    std::vector<OutgoingMessage>& send);

    // After `revoked`: none where the file is not known here any more, through where it is, refused
    // where something of it could not be drained. After `drains`: collective, or refused. Nothing
    // where it was given back already.
    void give_back(FileKey file, Token left, std::vector<OutgoingMessage>& send);
    // Nobody has the file open here, and everything of it is drained.
    void forget(FileKey file, std::vector<OutgoingMessage>& send);
    // Nobody waits for tokens any more: the tickets that did.
    [[nodiscard]] std::vector<std::uint64_t> drop_waiting();

    [[nodiscard]] Token token_of(FileKey file) const;
    // The number of the grant of its token `read`, and the node that passes the file on to this
    // one. Zero where there is no such token, or each node reads for itself.
    struct Place {
        std::uint64_t grant = 0;
        Parent parent;
    };
    [[nodiscard]] Place place_of(FileKey file) const;
    // The file's home has given this grant, or a later one, to this node.
    [[nodiscard]] bool has_heard_of(FileKey file, std::uint64_t grant) const;
    [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
    [[nodiscard]] std::size_t waiting() const noexcept;
    auto operator<=>(const OwnTokens&) const noexcept = default;

private:
    struct File {
        Token token = Token::none;
        // It is through here, since another node wanted it: others may still have bytes of it,
        // until the home has answered once more.
        bool others_may_cache = false;
        bool nowhere = false;     // it is through, and no node has anything of it any more
        std::uint64_t group = 0;  // where it is `collective`, …
        TokenWish asked;          // … or will be; a question is under way
        std::uint64_t grant = 0;  // the `read` token's
        Parent parent;
        std::uint64_t revoking = 0;  // number; 0: nobody wants it back, nor drained
        std::vector<std::uint64_t> tickets;
        std::map<std::uint64_t, std::uint64_t> settling;  // tickets, by the number of the question
        auto operator<=>(const File&) const noexcept = default;
    };

    [[nodiscard]] Reception hear_revoke(const TokenMessage& message,
                                        std::vector<OutgoingMessage>& send);
    void erase_if_empty(FileKey file);
    void say(const TokenMessage& message, std::vector<OutgoingMessage>& send) const;

    Node self_;
    std::uint32_t nodes_;
    std::uint64_t next_number_ = 1;  // for the next question for `settled`
    std::map<FileKey, File> files_;
    std::map<Node, std::uint64_t> last_grants_;  // by home
};

}  // namespace forebay::tokens
