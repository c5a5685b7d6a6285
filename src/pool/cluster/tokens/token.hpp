// The token protocol, by which the daemons of a job keep their pools coherent: it is that of a
// distributed lock manager with one lock per file. Each file has a *home*: the daemon that knows
// which nodes have the file open. Homes grant *tokens* to nodes, and revoke them.
//
//   node                          home of the file                      other nodes
//   ask(read or write)  ────────▶
//                                 revoke conflicting tokens ──────────▶ drain, drop cached blocks
//                                 ◀─────────────────────────── given_back(none or through)
//   ◀──────────────── grant(read, write or through)
//   forgotten           ────────▶            (no client has the file open, everything is drained)
//
// A file that the ranks of one program write together, by collective calls, is in the pools of
// several nodes at a time. These nodes have the token *collective*, for one group of ranks, and
// deposit disjoint bytes. Before the file is used in any other way, all of them drain it:
//
//   ask(settled)        ────────▶
//                                 revoke(collective), to each of them ▶ drain, keep the token
//                                 ◀─────────────────────────── given_back(collective)
//   ◀──────────────────── grant(settled)
//
// If few nodes are to read a file for all, the nodes with the token *read* form trees, in the order
// of their grants: the first few nodes read the file system; the grant of each later node names its
// parent, an earlier node that passes the file on to it. So no nodes wait for each other.
//
// Messages from one daemon to another arrive in the order in which they were sent.
#pragma once

#include <compare>
#include <cstdint>

namespace forebay::tokens {

// The number of a daemon in its job: 0, 1, …
using Node = std::uint32_t;

// A file, on all nodes. Two files of different file systems may have the same inode number, and
// share their tokens then: that may cost time, but mixes up no bytes.
struct FileKey {
    std::uint64_t inode = 0;
    auto operator<=>(const FileKey&) const noexcept = default;
};

// The home of a file in a job with `nodes` daemons.
[[nodiscard]] constexpr Node home_of(FileKey file, std::uint32_t nodes) noexcept {
    // The upper bits of a multiplicative hash, so that consecutive inode numbers go to different
    // homes.
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<Node>(((file.inode * golden) >> 32U) % nodes);
}

// A node's right to use a file in a certain way, as in a distributed lock manager.
enum class Token : std::uint8_t {
    none,
    read,     // no node writes the file: it may be read ahead
    write,    // no other node has the file open: writes may be deposits
    through,  // several nodes have the file open, and one of them writes: nothing is cached
    refused,  // only in answers: another node has bytes of the file, and they cannot be had
    // The nodes with this token write disjoint bytes, by collective calls: these may be deposits.
    collective,
    settled,  // only in questions and answers: all nodes have drained the file
};

// The token that a node asks for. `group`: with Token::collective, the number of the ranks that
// opened the file together.
struct TokenWish {
    Token token = Token::none;
    std::uint64_t group = 0;
    auto operator<=>(const TokenWish&) const noexcept = default;
};

// The node from which another one gets the bytes of a file, as long as it has the token of this
// grant.
struct Parent {
    Node node = 0;
    std::uint64_t grant = 0;  // 0: there is no parent; the file system is read
    auto operator<=>(const Parent&) const noexcept = default;
};

struct TokenMessage {
    enum class Kind : std::uint8_t {
        ask = 1,  // to the home: the sender wants this token (read, write, collective, settled)
        grant,    // from the home: this token, or `refused`
        // From the home: give the token back; with `collective`: drain the file and keep the token.
        revoke,
        // To the home: the token that is left, `none`, `through` or `collective`; or `refused`: the
        // file cannot be drained.
        given_back,
        forgotten,  // to the home: no client has the file open here, and everything is drained
        drained,    // to all: nothing is cached here any more, as a daemon is gone or ends
        stuck,      // to all, before `drained`: some of this file could not be drained
        alive,      // to all: heartbeat
        farewell,   // to all: the sender ends, and has drained everything that it could
    };
    Kind kind = Kind::alive;
    Token token = Token::none;
    FileKey file;
    // Connects a question with its answer: the same in `revoke` and `given_back`, and in `ask` and
    // `grant` of `settled`. With `ask` for `collective`: the group.
    std::uint64_t number = 0;
    // In a grant of `read`, where few nodes read for all: the number of the grant, and the parent.
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
