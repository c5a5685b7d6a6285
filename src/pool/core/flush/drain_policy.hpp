// The order in which a file's deposits are drained; PoolOptions::consistency chooses it once, for
// all files. A pass goes once over all deposits that were there when it began; a batch is a part of
// it.
#pragma once

#include "pool/core/state/pool_state.hpp"
#include "pool/policy/drain_order.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::pool {

class DrainPolicy {
public:
    explicit DrainPolicy(PoolState& pool_state) noexcept : pool_state_{pool_state} {}
    DrainPolicy(const DrainPolicy&) = delete;
    DrainPolicy& operator=(const DrainPolicy&) = delete;
    virtual ~DrainPolicy() = default;

    // The deposited bytes at which a file is drained even while it is written to, for a
    // write-behind window of `window_bytes`.
    [[nodiscard]] virtual std::int64_t pressing_bytes(std::int64_t window_bytes) const = 0;
    // Begins a pass: fills in FlushState::pass.
    virtual void begin(PooledFile& file, DrainReason why) const = 0;
    // The deposits of the next batch, ascending by offset; empty: nothing of the pass is left.
    [[nodiscard]] virtual std::vector<Deposit> next(PooledFile& file) const = 0;
    // `deposit` could not be written; `alone`: it was the only one of its batch. The next batch
    // begins after it, or with a smaller part of it.
    virtual void failed(PooledFile& file, const Deposit& deposit, bool alone) const = 0;
    // Whether nothing of the pass is left.
    [[nodiscard]] virtual bool over(PooledFile& file) const = 0;
    // The pass has ended; `early`: because of too many failures. The next one then begins after
    // these.
    virtual void end(PooledFile& file, bool early) const = 0;

protected:
    PoolState& pool_state_;
};

[[nodiscard]] std::unique_ptr<const DrainPolicy> make_drain_policy(PoolState& pool_state);

}  // namespace forebay::pool
