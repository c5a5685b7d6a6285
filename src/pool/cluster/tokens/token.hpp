// The protocol by which the daemons of a job agree about a file, so that no two nodes disagree
// about a byte. Each file has a *home*: the daemon that knows which nodes have the file open. The
// home gives out *tokens*.
//
//   node                          home of the file                      other nodes
//   ask(read or write)  ────────▶
//                                 revoke, where theirs is in the way ─▶ drain, drop clean blocks
//                                 ◀─────────────────────────── given_back(none or through)
//   ◀──────────────── grant(read, write or through)
//   forgotten           ────────▶                        (nobody has it open, all is drained)
//
// A file that the ranks of one program write together, by collective calls, is on several nodes at
// a time: these have the token *collective*, under one number. Each of them deposits other bytes.
// Any other use of the file waits until all of them have drained it:
//
//   ask(settled)        ────────▶
//                                 revoke(collective) to all that have it ─▶ drain, and keep it
//                                 ◀─────────────────────────── given_back(collective)
//   ◀──────────────────── grant(settled)
//
// Where few nodes are to read a file for all of them, those that have the token *read* form a tree,
// in the order of their grants: the first few read the file from the file system, and the grant of
// each further one names the node that passes the file on to it. No node waits for one that came
// later, so that none waits for itself.
//
// Messages from one daemon to another arrive in the order in which they were sent.
#pragma once

#include <compare>
#include <cstdint>

namespace forebay::tokens {

// The number of a daemon in its job: 0, 1, …
using Node = std::uint32_t;

// One file on all nodes. Two files with one number share their tokens: that costs time, no bytes.
struct FileKey {
    std::uint64_t inode = 0;
    auto operator<=>(const FileKey&) const noexcept = default;
};

// The daemon that keeps the tokens of a file, of `nodes` daemons.
[[nodiscard]] constexpr Node home_of(FileKey file, std::uint32_t nodes) noexcept {
    // The upper bits of the multiplicative hash: inodes that follow each other go to all homes.
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<Node>(((file.inode * golden) >> 32U) % nodes);
}

// The right of a node to use a file.
enum class Token : std::uint8_t {
    none,
    read,     // no node writes to it: it may be read ahead
    write,    // no other node has it open: writes may be deposits
    through,  // several nodes have it open, and one of them writes: nothing is cached
    refused,  // only in answers: what another node holds of it cannot be had
    // the nodes that have it write disjoint bytes: writes of collective calls may be deposits
    collective,
    settled,  // only in questions and answers: all nodes have drained it
};

// A token that a node asks for. `group`, for Token::collective: the program's number for what it
// does together.
struct TokenWish {
    Token token = Token::none;
    std::uint64_t group = 0;
    auto operator<=>(const TokenWish&) const noexcept = default;
};

// The node from which another one has the bytes of a file: as long as it still holds the token of
// this grant.
struct Parent {
    Node node = 0;
    std::uint64_t grant = 0;  // 0: there is none; the file system is read
    auto operator<=>(const Parent&) const noexcept = default;
};

struct TokenMessage {
    enum class Kind : std::uint8_t {
        ask = 1,     // to the home: this token (read, write, collective, settled) is wished for
        grant,       // from the home: this token, or refused
        revoke,      // from the home: give the token back; collective: drain the file and keep it
        given_back,  // to the home: what is left of the token: none or through, or collective;
                     // refused: it cannot be drained
        forgotten,   // to the home: nobody has it open here, and everything is drained
        drained,     // to all: one of us is gone; nothing is cached here any more
        stuck,       // to all, before `drained`: of this file, something could not be drained
        alive,       // to all, now and then
        farewell,    // to all: I end, and have drained everything that could be
    };
    Kind kind = Kind::alive;
    Token token = Token::none;
    FileKey file;
    // revoke, given_back: the same in both; so it is in ask and grant of `settled`. Where
    // `collective` is asked for: the group.
    std::uint64_t number = 0;
    // In a grant of `read`, where few nodes read for all: its number, and the node's parent.
    std::uint64_t grant = 0;
    Parent parent{};
    auto operator<=>(const TokenMessage&) const noexcept = default;
};

struct OutgoingMessage {
    Node to = 0;
    TokenMessage message;
    auto operator<=>(const OutgoingMessage&) const noexcept = default;
};

}  // namespace forebay::tokens
