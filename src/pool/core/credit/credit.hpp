// Gives clients credit: leases them blocks, as many ahead of what they have reserved as the cap and
// the others allow (pool/policy/credit.hpp), and gives memory back that nobody needs.
#pragma once

#include "pool/core/state/pool_state.hpp"
#include "pool/policy/credit.hpp"

#include <cstdint>

namespace forebay::pool {

class Credit {
public:
    explicit Credit(PoolState& pool_state) : pool_state_{pool_state} {}

    // True when anybody got any.
    bool run_once();
    // Somebody has reserved more than what could be lent.
    [[nodiscard]] bool wanting() const noexcept { return wanting_; }
    // Blocks that are lent and hold something, or may soon.
    [[nodiscard]] std::int64_t in_use() const noexcept { return in_use_; }

private:
    [[nodiscard]] BlockLeases survey();
    void look_at_demand(BlockLeases& lending);
    [[nodiscard]] std::uint64_t wanted_end(const Client& client, std::int64_t ahead) const;
    [[nodiscard]] bool lend(Client& client, BlockLeases& lending);
    [[nodiscard]] bool provide(Client& client, BlockLeases& lending);
    [[nodiscard]] bool between_files(const Client& client, const BlockLeases& lending) const;
    void warm(Client& client, BlockLeases& lending);
    void release(Client& client, BlockLeases& lending);
    void publish(const BlockLeases& lending);
    [[nodiscard]] bool any_comes_free() const;
    void let_waiting_files_leave();

    // Blocks of one round: to get memory takes long, and nothing else is done meanwhile. It is
    // one for each writer; where writers wait for the journal, only the least.
    static constexpr std::int64_t touched_least = 2;
    static constexpr std::int64_t touched_most = 16;

    PoolState& pool_state_;
    std::int64_t touches_left_ = 0;
    std::size_t turn_ = 0;  // index of the client that gets a block first; it goes round
    bool wanting_ = false;
    std::int64_t in_use_ = 0;
    std::int64_t looked_ns_ = 0;
    std::int64_t dry_since_ns_ = never_ns;  // since then somebody waits for what does not come
};

}  // namespace forebay::pool
