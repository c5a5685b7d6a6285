// Gives clients credit: leases them blocks, as many beyond what they have reserved as the cap and
// the other clients allow (pool/policy/credit.hpp), and gives idle memory back to the system.
#pragma once

#include "pool/core/state/pool_state.hpp"
#include "pool/policy/credit.hpp"

#include <cstdint>

namespace forebay::pool {

class Credit {
public:
    explicit Credit(PoolState& pool_state) : pool_state_{pool_state} {}

    // One round. Returns true if a client got a block.
    bool run_once();
    // Whether a client has reserved more than its credit, and so waits for memory.
    [[nodiscard]] bool wanting() const noexcept { return wanting_; }
    // The number of blocks that hold bytes, or may soon.
    [[nodiscard]] std::int64_t in_use() const noexcept { return in_use_; }

private:
    // Counts the blocks and the writers of all clients.
    [[nodiscard]] LeaseTotals survey();
    void look_at_demand(LeaseTotals& lending);
    [[nodiscard]] std::uint64_t wanted_end(const Client& client, std::int64_t ahead) const;
    // Leases one block to the client. False: it needs none, or there is none.
    [[nodiscard]] bool lend(Client& client, LeaseTotals& lending);
    // Provides memory for one block of the client. False: it may not have more, or there is none.
    [[nodiscard]] bool provide(Client& client, LeaseTotals& lending);
    [[nodiscard]] bool between_files(const Client& client, const LeaseTotals& lending) const;
    // Provides memory before the client needs it.
    void warm(Client& client, LeaseTotals& lending);
    void release(Client& client, LeaseTotals& lending);
    // Tells clients their credit by the directory.
    void publish(const LeaseTotals& lending);
    // Whether a deposit of any file can be drained.
    [[nodiscard]] bool any_comes_free() const;
    void let_waiting_files_leave();

    // Maximum number of blocks for which one round provides memory: one for each writer, within
    // these bounds. Providing memory takes long, and the daemon does nothing else meanwhile; so it
    // is the minimum while writers wait for the journal.
    static constexpr std::int64_t touched_least = 2;
    static constexpr std::int64_t touched_most = 16;

    PoolState& pool_state_;
    // Blocks for which this round may still provide memory.
    std::int64_t touches_left_ = 0;
    std::size_t turn_ = 0;  // index of the client that gets a block first; advances each round
    bool wanting_ = false;
    std::int64_t in_use_ = 0;
    // When demands were last updated.
    std::int64_t looked_ns_ = 0;
    // Since when a client has waited and nothing can come free.
    std::int64_t dry_since_ns_ = never_ns;
};

}  // namespace forebay::pool
