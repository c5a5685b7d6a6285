// The tokens of the files whose home this daemon is.
#pragma once

#include "registry/token.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace forebay::registry {

class Home {
public:
    // An ask, given_back or forgotten. Appends what is to be said about it.
    void hear(Node from, const Message& message, std::vector<Outgoing>& send);

    // Files of which any node has a token.
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
        std::uint64_t group = 0;  // of those that are `collective`
        std::deque<Asked> wishes;
        std::optional<Revoking> revoking;
        auto operator<=>(const File&) const noexcept = default;
    };

    static void take_back(File& file, Node from, const Message& message);
    [[nodiscard]] static bool in_the_way(Node node, Token token, const File& file,
                                         const Asked& wish) noexcept;
    [[nodiscard]] Revoking revoke(FileKey key, const File& file, const Asked& wish,
                                  std::vector<Outgoing>& send);
    static void grant(FileKey key, File& file, const Revoking& ended, std::vector<Outgoing>& send);
    void go_on(FileKey key, File& file, std::vector<Outgoing>& send);

    std::map<FileKey, File> files_;
    std::uint64_t next_number_ = 1;
};

}  // namespace forebay::registry
