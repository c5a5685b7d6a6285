// The tokens of the files whose home this daemon is.
#pragma once

#include "pool/cluster/tokens/token.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace forebay::tokens {

class Home {
public:
    // Nodes to which one node passes a file on.
    static constexpr std::size_t children_max = 2;

    // `readers`: so many nodes read a file for all that read it; 0: each reads it for itself.
    explicit Home(std::uint32_t readers = 0) noexcept : readers_{readers} {}

    // An ask, given_back or forgotten. Appends the messages to be sent about it.
    void receive(Node from, const TokenMessage& message, std::vector<OutgoingMessage>& send);

    // Files of which any node has a token.
    [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
    [[nodiscard]] Token token_of(Node node, FileKey file) const;
    auto operator<=>(const Home&) const noexcept = default;

private:
    struct Asked {
        Node node = 0;
        Token token = Token::none;
        std::uint64_t number = 0;  // the message's
        auto operator<=>(const Asked&) const noexcept = default;
    };
    // A wish that waits for other nodes.
    struct Revoking {
        Asked wish;
        std::uint64_t number = 0;
        std::set<Node> awaited;
        bool refused = false;
        auto operator<=>(const Revoking&) const noexcept = default;
    };
    struct File {
        std::map<Node, Token> tokens;
        std::uint64_t group = 0;      // the group of the `collective` tokens
        std::vector<Parent> reading;  // those that have `read`, in the order of their grants
        std::deque<Asked> wishes;
        std::optional<Revoking> revoking;
        auto operator<=>(const File&) const noexcept = default;
    };

    static void take_back(File& file, Node from, const TokenMessage& message);
    static void give(File& file, Node node, Token token);
    [[nodiscard]] Parent parent_of_next(const File& file) const noexcept;
    [[nodiscard]] static bool in_the_way(Node node, Token token, const File& file,
                                         const Asked& wish) noexcept;
    [[nodiscard]] Revoking revoke(FileKey key, const File& file, const Asked& wish,
                                  std::vector<OutgoingMessage>& send);
    [[nodiscard]] static bool is_shared(const File& file) noexcept;
    [[nodiscard]] static bool revoke_own(FileKey key, File& file,
                                         std::vector<OutgoingMessage>& send);
    void grant(FileKey key, File& file, const Revoking& ended, std::vector<OutgoingMessage>& send);
    void go_on(FileKey key, File& file, std::vector<OutgoingMessage>& send);

    std::uint32_t readers_;
    std::map<FileKey, File> files_;
    std::uint64_t next_number_ = 1;
};

}  // namespace forebay::tokens
