// In which order a file's deposits are drained. Which way, PoolOptions::consistency says, once for
// all files. A pass is once over all that was there when it began; a batch takes a part of it.
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

    // So many deposited bytes ask to be drained while the file is written to.
    [[nodiscard]] virtual std::int64_t pressing_bytes(std::int64_t window_bytes) const = 0;
    // Fills in the file's pass.
    virtual void begin(PooledFile& file, DrainReason why) const = 0;
    // The next batch's deposits, in the order of offsets; none: nothing of the pass is left.
    [[nodiscard]] virtual std::vector<Deposit> next(PooledFile& file) const = 0;
    // This one could not be written, `alone` or with others. The deposits behind it come next, or a
    // smaller part.
    virtual void failed(PooledFile& file, const Deposit& deposit, bool alone) const = 0;
    [[nodiscard]] virtual bool over(PooledFile& file) const = 0;
    // The pass has ended; `early`: after too many failures. The next one begins behind them.
    virtual void end(PooledFile& file, bool early) const = 0;

protected:
    PoolState& pool_state_;
};

[[nodiscard]] std::unique_ptr<const DrainPolicy> make_drain_policy(PoolState& pool_state);

}  // namespace forebay::pool
