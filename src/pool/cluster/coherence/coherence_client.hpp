// This daemon's side of the token protocol (the client of a distributed lock manager): asks the
// homes of files for tokens, and has files leave the pool when tokens are revoked. The decisions
// are those of pool/cluster/tokens/member.hpp, which is pure; this class carries them out over the
// pool and the transport.
#pragma once

#include "pool/cluster/tokens/member.hpp"
#include "pool/cluster/transport/peer_transport.hpp"
#include "pool/core/pool.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace forebay::cluster {

class CoherenceClient {
public:
    struct Job {
        PeerTransport& post;
        tokens::Node self = 0;
        std::uint32_t nodes = 1;
        std::uint32_t readers = 0;  // as Home's constructor has it
    };
    // The transport and the pool outlive this object.
    CoherenceClient(const Job& job, pool::Pool& pool);

    // As the functions of tokens::TokenMember.
    [[nodiscard]] std::optional<tokens::FileAdmission> want(tokens::FileKey file,
                                                            const tokens::TokenWish& wish,
                                                            std::uint64_t ticket);
    [[nodiscard]] std::optional<tokens::FileAdmission> settle(tokens::FileKey file,
                                                              std::uint64_t ticket);
    [[nodiscard]] bool entered(tokens::FileKey file, std::uint32_t slot);
    void not_entered(tokens::FileKey file);
    void abandon(tokens::FileKey file, std::uint64_t ticket);

    // As the functions of tokens::TokenMember.
    [[nodiscard]] tokens::Parent parent_of(tokens::FileKey file) const {
        return member_.parent_of(file);
    }
    [[nodiscard]] tokens::TokenMember::PassedOn passed_on(tokens::FileKey file,
                                                          std::uint64_t grant) const {
        return member_.passed_on(file, grant);
    }

    // Takes messages that have arrived, and does what follows from them.
    void receive();
    // Gives up the tokens of files that the pool has forgotten since the last call. Must be called
    // before the pool uses their slots again. True when there were any.
    bool forget();
    // True when the ticket belongs to a task that this object has given to the pool; its answer is
    // thereby handled.
    [[nodiscard]] bool took(const pool::TaskCompletion& done);
    // Tickets of want() and settle(), for which these are to be called again.
    [[nodiscard]] std::vector<std::uint64_t> again();
    // True once after another daemon has gone: nothing may be cached any more. The caller closes
    // the pool down, drains it, and passes the ticket to draining_all().
    [[nodiscard]] bool closes_down();
    // True when another daemon has died since the last call. What it had not drained is lost.
    [[nodiscard]] bool somebody_died() noexcept { return std::exchange(died_, false); }
    // `ticket` is that of the pool's task to drain all files.
    void draining_all(std::uint64_t ticket) { closing_ = ticket; }
    // At the end: tells the other daemons which files could not be drained, and that this one ends.
    void announce_shutdown();

    [[nodiscard]] bool idle() const {
        return member_.waiting() == 0 && leaving_.empty() && draining_.empty();
    }
    [[nodiscard]] bool peer_lost() const noexcept { return member_.peer_lost(); }

private:
    void apply();
    void leave(const tokens::MemberActions::Leave& order);
    void drain(const tokens::MemberActions::Drain& order);
    [[nodiscard]] std::vector<tokens::FileKey> stuck() const;

    // A file that another node wants drained: the pool's tickets for its slots.
    struct Leaving {
        std::set<std::uint64_t> tickets;
        // All answers so far were without an error.
        bool drained = true;
        // Takes the answer to one of the tickets. True: none is left.
        bool take(const pool::TaskCompletion& done);
    };
    // Looks for the ticket among `orders`; false: none has it. With an order's last ticket the
    // order ends, and `tell` gets its key and whether everything was drained.
    template <class Key, class Tell>
    [[nodiscard]] bool answered(std::map<Key, Leaving>& orders, const pool::TaskCompletion& done,
                                Tell tell);

    PeerTransport& post_;
    pool::Pool& pool_;
    tokens::TokenMember member_;
    std::map<tokens::FileKey, Leaving> leaving_;
    // By file and the order's number.
    std::map<std::pair<tokens::FileKey, std::uint64_t>, Leaving> draining_;
    std::set<std::uint64_t> ignored_;  // tickets whose answers are not needed
    // The file of each slot that the pool has for one.
    std::map<std::uint32_t, tokens::FileKey> slots_;
    std::vector<std::uint64_t> again_;
    std::optional<std::uint64_t> closing_;  // the ticket of draining everything
    bool closes_down_ = false;
    bool died_ = false;
};

}  // namespace forebay::cluster
