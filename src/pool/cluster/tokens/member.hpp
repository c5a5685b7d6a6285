// One daemon of a job in the token protocol: which files it may cache, what it tells the other
// daemons, and what it does when one of them is gone. Pure: it decides on actions; the
// CoherenceClient sends, drains and waits.
//
// When a daemon is gone, nobody knows any more which tokens it had granted as a home. So caching
// ends on all nodes: each daemon drains everything and tells the others, and files are opened
// again, through, when all have done so.
#pragma once

#include "pool/cluster/tokens/home.hpp"
#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/tokens/tokens.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace forebay::tokens {

enum class FileAdmission : std::uint8_t {
    cached,   // the file may be pooled
    through,  // the file must be written through: other nodes have it open, or a daemon is gone
    refused,  // another node has bytes of the file, and they cannot be had
};

// The actions that the caller is to carry out now.
struct MemberActions {
    std::vector<OutgoingMessage> send;
    struct Leave {
        FileKey file;
        std::vector<std::uint32_t> slots;
        // The caller then calls left() with the outcome.
        bool answer = false;
        auto operator<=>(const Leave&) const noexcept = default;
    };
    struct Drain {
        FileKey file;
        std::vector<std::uint32_t> slots;
        std::uint64_t number = 0;  // to be passed to drained()
        auto operator<=>(const Drain&) const noexcept = default;
    };
    std::vector<Leave> leave;  // files of which nothing may be cached any more
    // Files whose present deposits are to be drained; they stay in the pool.
    std::vector<Drain> drain;
    // Tickets for which want() or settle() is to be called again.
    std::vector<std::uint64_t> again;
    bool close_down = false;  // no file may be cached any more; then call closed_down()
    bool died = false;        // another daemon has died without announcing its shutdown
    [[nodiscard]] bool empty() const noexcept {
        return send.empty() && leave.empty() && drain.empty() && again.empty() && !close_down &&
               !died;
    }
    auto operator<=>(const MemberActions&) const noexcept = default;
};

class TokenMember {
public:
    // `readers`: see Home; the same for all daemons of the job.
    TokenMember(Node self, std::uint32_t nodes, std::uint32_t readers = 0);

    // A client opens the file. nullopt: the answer is not known yet; the ticket will be in
    // MemberActions::again. An answer other than `refused` must be followed by entered() or
    // not_entered(), and is valid until then.
    [[nodiscard]] std::optional<FileAdmission> want(FileKey file, const TokenWish& wish,
                                                    std::uint64_t ticket);
    // A client is going to use a file that several nodes write together otherwise than by their
    // collective calls: everything deposited so far, on whatever node, must be in the file.
    // nullopt: the ticket will be in MemberActions::again. `cached`: it is in the file. `refused`:
    // some of it cannot be drained.
    [[nodiscard]] std::optional<FileAdmission> settle(FileKey file, std::uint64_t ticket);
    // The client has the file open; `slot` is the pool's. False: another node was admitted since
    // want() answered. Then the file must leave the pool before the client learns that it is open.
    [[nodiscard]] bool entered(FileKey file, std::uint32_t slot);
    // The client has not opened the file after all.
    void not_entered(FileKey file);
    // Instead of calling want() or settle() again: nobody needs the answer any more.
    void abandon(FileKey file, std::uint64_t ticket);
    // The pool has forgotten the slot's file: no client has it open, and it is drained.
    void forgotten(std::uint32_t slot);
    // The caller has done what MemberActions::leave asked for. `drained` is false if some of the
    // file could not be drained.
    void left(FileKey file, bool drained);
    // The caller has done what MemberActions::drain asked for. `well` is false if some of the file
    // could not be drained.
    void drained(FileKey file, std::uint64_t number, bool well);
    // The caller has done what MemberActions::close_down asked for. `stuck`: files that could not
    // be drained.
    void closed_down(const std::vector<FileKey>& stuck);

    // Takes a message of another daemon.
    void receive(Node from, const TokenMessage& message);
    // The node that passes the file on to this one, which may read it ahead. Grant 0: there is
    // none.
    [[nodiscard]] Parent parent_of(FileKey file) const;
    // Whether this node passes the file on to nodes that were told so with this grant.
    struct PassedOn {
        std::vector<std::uint32_t> slots;  // the file's slots; empty: it does not, or not yet
        // Ask again: the grant has not arrived here yet, or the file is being opened.
        bool later = false;
    };
    [[nodiscard]] PassedOn passed_on(FileKey file, std::uint64_t grant) const;

    // The connection to the node has ended. If the node had announced its shutdown, nothing of its
    // deposits is lost.
    void lost(Node node);
    // Refuses the clients that wait for another daemon, because one of those has been silent for
    // too long.
    void refuse_waiting();
    // At the end: tells all other daemons that this one ends.
    void announce_shutdown();

    [[nodiscard]] MemberActions take_actions();
    [[nodiscard]] std::size_t waiting() const noexcept {
        return tokens_.waiting() + waiting_.size();
    }
    [[nodiscard]] const std::set<Node>& others() const noexcept { return others_; }
    [[nodiscard]] bool peer_lost() const noexcept { return peer_lost_; }
    auto operator<=>(const TokenMember&) const noexcept = default;

private:
    struct Known {
        std::set<std::uint32_t> slots;
        // Clients that were admitted, and have not entered yet.
        std::int32_t entering = 0;
        bool revoked = false;  // the token was revoked; it is given back when no client is entering
        bool leaving = false;  // MemberActions::leave was given out, left() not called yet
        // Number of the MemberActions::Drain for which drained() is still to be called; 0: none.
        std::uint64_t draining = 0;
        auto operator<=>(const Known&) const noexcept = default;
    };

    [[nodiscard]] std::optional<FileAdmission> admit(FileKey file, const TokenWish& wish,
                                                     std::uint64_t ticket);
    [[nodiscard]] std::optional<FileAdmission> admit_after_loss(FileKey file, std::uint64_t ticket);
    void deliver();
    void apply(FileKey file, const OwnTokens::Reception& heard);
    void begin_to_drain(FileKey file);
    void give_back_if_nobody_enters(FileKey file);
    void tidy(FileKey file);
    void say_to_all(const TokenMessage& message);
    void bereave();
    void settle();

    Node self_;
    std::set<Node> others_;  // that are not gone
    OwnTokens tokens_;
    Home home_;
    std::map<FileKey, Known> known_;
    std::map<std::uint32_t, FileKey> by_slot_;
    std::set<std::uint64_t> refused_;   // tickets that are refused when they ask again
    std::set<std::uint64_t> promised_;  // tickets that count as entering until they ask again
    std::set<std::uint64_t> settled_;   // tickets of settle() for which everything is drained
    std::uint64_t next_draining_ = 1;
    MemberActions actions_;

    bool peer_lost_ = false;    // a daemon is gone: nothing is cached any more
    bool closed_down_ = false;  // closed_down() was called
    std::set<Node> drained_;    // daemons that have said that they have drained everything
    std::set<Node> farewells_;  // daemons that have announced their shutdown
    // Files that some daemon could not drain.
    std::set<FileKey> stuck_;
    // Tickets that wait until all daemons have drained everything.
    std::vector<std::uint64_t> waiting_;
};

}  // namespace forebay::tokens
