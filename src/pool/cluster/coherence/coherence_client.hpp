// The other daemons of the job, as the dispatcher sees them: which node may cache which file, by
// the rules of pool/cluster/tokens/member.hpp. Carries out what these decide, over the pool and the
// transport.
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
        std::uint32_t readers = 0;  // nodes that read a file for all; 0: each for itself
    };
    // Both outlive it.
    CoherenceClient(const Job& job, pool::Pool& pool);

    // See tokens::TokenMember: want, settle, entered, not_entered, abandon.
    [[nodiscard]] std::optional<tokens::FileAdmission> want(tokens::FileKey file,
                                                            const tokens::TokenWish& wish,
                                                            std::uint64_t ticket);
    [[nodiscard]] std::optional<tokens::FileAdmission> settle(tokens::FileKey file,
                                                              std::uint64_t ticket);
    [[nodiscard]] bool entered(tokens::FileKey file, std::uint32_t slot);
    void not_entered(tokens::FileKey file);
    void abandon(tokens::FileKey file, std::uint64_t ticket);

    // See tokens::TokenMember: parent_of, passed_on.
    [[nodiscard]] tokens::Parent parent_of(tokens::FileKey file) const {
        return member_.parent_of(file);
    }
    [[nodiscard]] tokens::TokenMember::PassedOn passed_on(tokens::FileKey file,
                                                          std::uint64_t grant) const {
        return member_.passed_on(file, grant);
    }

    // Hears what has arrived, and does what follows.
    void receive();
    // The same for the slots that the pool has forgotten, before any of them is used again. True
    // when there were any.
    bool forget();
    // Whether the ticket was of its own, and is thereby dealt with.
    [[nodiscard]] bool took(const pool::TaskCompletion& done);
    // Tickets of want() that are to be asked again.
    [[nodiscard]] std::vector<std::uint64_t> again();
    // Nothing at all may be cached any more: to be called down once, then closed().
    [[nodiscard]] bool closes_down();
    // Another daemon has died since the last call: what it had not drained is lost.
    [[nodiscard]] bool somebody_died() noexcept { return std::exchange(died_, false); }
    void draining_all(std::uint64_t ticket) { closing_ = ticket; }
    // The end: what could not be drained, and that it ends.
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

    // A file that another node wants drained: the tickets of its slots.
    struct Leaving {
        std::set<std::uint64_t> tickets;
        bool drained = true;
        // One of them is answered. True: none is left.
        bool take(const pool::TaskCompletion& done);
    };
    // Whether one of the orders has the ticket. The last of an order's tickets ends it: `tell`
    // hears its key, and whether all was drained.
    template <class Key, class Tell>
    [[nodiscard]] bool answered(std::map<Key, Leaving>& orders, const pool::TaskCompletion& done,
                                Tell tell);

    PeerTransport& post_;
    pool::Pool& pool_;
    tokens::TokenMember member_;
    std::map<tokens::FileKey, Leaving> leaving_;
    std::map<std::pair<tokens::FileKey, std::uint64_t>, Leaving> draining_;  // by its number
    std::set<std::uint64_t> ignored_;  // tickets whose answers nobody needs
    std::map<std::uint32_t, tokens::FileKey> slots_;
    std::vector<std::uint64_t> again_;
    std::optional<std::uint64_t> closing_;  // the ticket of draining everything
    bool closes_down_ = false;
    bool died_ = false;
};

}  // namespace forebay::cluster
