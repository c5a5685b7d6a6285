// One daemon of a job, as far as the others are concerned: which files it may cache, what it tells
// the others, and what it does when one of them is gone. Decides; somebody else sends, drains and
// waits.
//
// When a daemon has gone, so has what its files' tokens were. Then nothing is cached any more: each
// of the rest drains what it has and tells the others, and a file is opened when all have done so.
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
    cached,   // its bytes may lie in the pool
    through,  // they may not: other nodes have it open, or a daemon is gone
    refused,  // what another node holds of it cannot be had
};

// The actions that the caller is to take now.
struct MemberActions {
    std::vector<OutgoingMessage> send;
    struct Leave {
        FileKey file;
        std::vector<std::uint32_t> slots;
        // Then the caller calls left() with the outcome.
        bool answer = false;
        auto operator<=>(const Leave&) const noexcept = default;
    };
    struct Drain {
        FileKey file;
        std::vector<std::uint32_t> slots;
        std::uint64_t number = 0;  // for drained()
        auto operator<=>(const Drain&) const noexcept = default;
    };
    std::vector<Leave> leave;  // nothing of these is to be cached any more
    std::vector<Drain> drain;  // what is there by now; they may be cached further on
    // For these tickets, want() or settle() is to be asked once more.
    std::vector<std::uint64_t> again;
    bool close_down = false;  // nothing at all; then call closed_down()
    bool died = false;        // another daemon has, without announcing its shutdown
    [[nodiscard]] bool empty() const noexcept {
        return send.empty() && leave.empty() && drain.empty() && again.empty() && !close_down &&
               !died;
    }
    auto operator<=>(const MemberActions&) const noexcept = default;
};

class TokenMember {
public:
    // `readers`: see Home; all members are given the same.
    TokenMember(Node self, std::uint32_t nodes, std::uint32_t readers = 0);

    // A client opens the file. nullopt: its ticket comes back in MemberActions::again. Otherwise
    // the answer holds until entered() or not_entered(), one of which has to follow if it is not a
    // refusal.
    [[nodiscard]] std::optional<FileAdmission> want(FileKey file, const TokenWish& wish,
                                                    std::uint64_t ticket);
    // A client does something to a file that several nodes write together, by other than their
    // collective calls: what was deposited before, on whatever node, has to be in the file.
    // nullopt: the ticket comes back in MemberActions::again. Otherwise it is there, or that is
    // refused.
    [[nodiscard]] std::optional<FileAdmission> settle(FileKey file, std::uint64_t ticket);
    // False: another node was admitted since the answer. Nothing of the file may be cached, from
    // before the client learns that it is open.
    [[nodiscard]] bool entered(FileKey file, std::uint32_t slot);
    void not_entered(FileKey file);
    // In the place of asking again: nobody wants the file any more.
    void abandon(FileKey file, std::uint64_t ticket);
    // The pool does not know the slot's file any more: nobody has it open, and it is drained.
    void forgotten(std::uint32_t slot);
    // The caller has done what MemberActions::leave asked for; not `drained` where something has an
    // error.
    void left(FileKey file, bool drained);
    // The caller has done what MemberActions::drain asked for; not `well` where something has an
    // error.
    void drained(FileKey file, std::uint64_t number, bool well);
    // The caller has done what MemberActions::close_down asked for, but for files that could not be
    // drained.
    void closed_down(const std::vector<FileKey>& stuck);

    void receive(Node from, const TokenMessage& message);
    // The node that passes the file on to this one, which may read it ahead. Grant 0: none does.
    [[nodiscard]] Parent parent_of(FileKey file) const;
    // Whether this node passes the file on, by that grant.
    struct PassedOn {
        std::vector<std::uint32_t> slots;  // the file's; none: it does not, or not yet
        bool later = false;                // it is still being told, or opening the file
    };
    [[nodiscard]] PassedOn passed_on(FileKey file, std::uint64_t grant) const;

    // Its connection ended. If it had announced its shutdown, nothing of it is lost.
    void lost(Node node);
    // Refuses the clients that wait for another daemon's answer: one has been silent for too long.
    void refuse_waiting();
    // Said to all, at the end.
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
        std::int32_t entering = 0;
        bool revoked = false;        // once nobody is entering
        bool leaving = false;        // asked for, not told yet
        std::uint64_t draining = 0;  // asked for by this number, not told yet; 0: not
        auto operator<=>(const Known&) const noexcept = default;
    };

    [[nodiscard]] std::optional<FileAdmission> admit(FileKey file, const TokenWish& wish,
                                                     std::uint64_t ticket);
    [[nodiscard]] std::optional<FileAdmission> admit_bereaved(FileKey file, std::uint64_t ticket);
    void deliver();
    void apply(FileKey file, const OwnTokens::Reception& heard);
    void begin_to_drain(FileKey file);
    void give_back_if_nobody_enters(FileKey file);
    void tidy(FileKey file);
    void say_to_all(const TokenMessage& message);
    void bereave();
    void settle();

    Node self_;
    std::set<Node> others_;  // that have not gone
    OwnTokens tokens_;
    Home home_;
    std::map<FileKey, Known> known_;
    std::map<std::uint32_t, FileKey> by_slot_;
    std::set<std::uint64_t> refused_;   // tickets that are to ask again, and …
    std::set<std::uint64_t> promised_;  // … those that count as entering until then
    std::set<std::uint64_t> settled_;   // tickets of settle(): it is
    std::uint64_t next_draining_ = 1;
    MemberActions actions_;

    bool peer_lost_ = false;
    bool closed_down_ = false;
    std::set<Node> drained_;    // others that said so
    std::set<Node> farewells_;  // others that are about to end
    std::set<FileKey> stuck_;
    std::vector<std::uint64_t> waiting_;
};

}  // namespace forebay::tokens
