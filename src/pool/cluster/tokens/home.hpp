// The home of files: knows which nodes hold tokens of them, grants tokens and revokes them (the
// server side of a distributed lock manager). Pure: its messages are returned, not sent. Each
// daemon is the home of the files whose inode numbers are hashed to it.
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
    // To how many nodes a node passes a file on.
    static constexpr std::size_t children_max = 2;

    // `readers`: how many nodes read a file from the file system, for all nodes that read it
    // (setting pool_readers); 0: each node reads for itself.
    explicit Home(std::uint32_t readers = 0) noexcept : readers_{readers} {}

    // Takes a message of kind ask, given_back or forgotten, and appends the messages that follow
    // from it to `send`.
    void receive(Node from, const TokenMessage& message, std::vector<OutgoingMessage>& send);

    // The number of files of which some node has a token.
    [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
    [[nodiscard]] Token token_of(Node node, FileKey file) const;
    auto operator<=>(const Home&) const noexcept = default;

private:
    struct Asked {
        Node node = 0;
        Token token = Token::none;
        std::uint64_t number = 0;  // of the message
        auto operator<=>(const Asked&) const noexcept = default;
    };
    // A wish that waits for other nodes to give their tokens back.
    struct Revoking {
        Asked wish;
        // The number of the revoke messages.
        std::uint64_t number = 0;
        // Nodes that have not answered yet.
        std::set<Node> awaited;
        // A node could not drain the file.
        bool refused = false;
        auto operator<=>(const Revoking&) const noexcept = default;
    };
    struct File {
        std::map<Node, Token> tokens;
        std::uint64_t group = 0;      // of the `collective` tokens
        std::vector<Parent> reading;  // nodes with a `read` token, in the order of their grants
        std::deque<Asked> wishes;
        std::optional<Revoking> revoking;
        auto operator<=>(const File&) const noexcept = default;
    };

    static void take_back(File& file, Node from, const TokenMessage& message);
    static void give(File& file, Node node, Token token);
    [[nodiscard]] Parent parent_of_next(const File& file) const noexcept;
    [[nodiscard]] static bool conflicts(Node node, Token token, const File& file,
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
