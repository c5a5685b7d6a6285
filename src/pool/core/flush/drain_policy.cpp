// The two orders of draining. ByOffset: requests get large and end at stripe boundaries.
// FirstInFirstOut: the block cache of 2022 (docs/decisions/0020-the-papers-cache-is-a-mode.md).
#include "pool/core/flush/drain_policy.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "storage/transfer/cut_limits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace forebay::pool {

namespace {

// The full stripes in a run of contiguous deposits; empty if there is none. The stripe that the
// last offset lies in is not full: where the sum is saturated, `begin` is at most `end`.
Extent full_stripes(const Extent& run, std::int64_t stripe_bytes) {
    expects(stripe_bytes > 0, "the file is striped");
    const std::int64_t begin =
        saturated_sum(run.begin.bytes(), stripe_bytes - 1) / stripe_bytes * stripe_bytes;
    const std::int64_t end = run.end().bytes() / stripe_bytes * stripe_bytes;
    return {Offset{begin}, Length{std::max<std::int64_t>(end - begin, 0)}};
}

// The parts of `deposits` that fill stripes.
std::vector<Deposit> only_full_stripes(const std::vector<Deposit>& deposits,
                                       std::int64_t stripe_bytes) {
    std::vector<Deposit> kept;
    for (std::size_t begin = 0; begin < deposits.size();) {
        std::size_t end = begin + 1;
        while (end < deposits.size() &&
               deposits[end].extent.begin == deposits[end - 1].extent.end()) {
            ++end;
        }
        const Offset from = deposits[begin].extent.begin;
        const Extent full =
            full_stripes({from, deposits[end - 1].extent.end() - from}, stripe_bytes);
        for (; begin < end; ++begin) {
            const Deposit part = part_of(deposits[begin], full);
            if (!part.extent.empty()) {
                kept.push_back(part);
            }
        }
    }
    return kept;
}

// After a failed request, the same range is tried in pieces of this length.
constexpr Length narrow_length{std::int64_t{64} << 10};

// `bytes`, but at most half of the window, and at most so much that one reservation still fits:
// else a writer that waits for the window would wait for ever.
std::int64_t within(std::int64_t window_bytes, std::int64_t bytes) {
    const auto write = static_cast<std::int64_t>(reservation_max);
    const std::int64_t most = std::min(window_bytes / 2, window_bytes - write);
    return std::max<std::int64_t>(std::min(most, bytes), 1);
}

class ByOffset final : public DrainPolicy {
public:
    using DrainPolicy::DrainPolicy;

    [[nodiscard]] std::int64_t pressing_bytes(std::int64_t window_bytes) const override {
        return within(window_bytes, worthwhile_bytes(window_bytes));
    }

    void begin(PooledFile& file, DrainReason why) const override {
        expects(!file.flush.batch, "no batch of the pass before is under way");
        file.flush.pass = {
            .under_way = true,
            .whole = why != DrainReason::pressure || file.open->stripes.stripe_bytes == 0,
            .from_start = file.flush.resumes_at == Offset{0},
            .began_at = file.flush.resumes_at,
            .at = file.flush.resumes_at,
            .end = Offset{pool_state_.files.slot_of(file).size.load(relaxed)},
            .began_ns = pool_state_.ingest.taken_until_ns};
    }

    [[nodiscard]] std::vector<Deposit> next(PooledFile& file) const override {
        FlushPass& pass = file.flush.pass;
        std::vector<Deposit> deposits = some(file);
        if (deposits.empty() && !pass.whole && pass.drained_bytes == 0 && pass.failures == 0) {
            pass.whole = true;  // no stripe is complete: drain parts of stripes, too
            pass.at = pass.began_at;
            deposits = some(file);
        }
        return deposits;
    }

    // A file system may refuse a whole request because of one bad block; so what follows is tried
    // in small pieces, and a small piece that fails alone is skipped.
    void failed(PooledFile& file, const Deposit& deposit, bool alone) const override {
        FlushPass& pass = file.flush.pass;
        expects(pass.failures > 0, "a batch of the pass has failed");
        if (alone && deposit.extent.length <= narrow_length) {
            pass.at = deposit.extent.end();
            return;
        }
        pass.at = deposit.extent.begin;
        const Offset until{saturated_sum(pass.at.bytes(), pool_state_.options.request_bytes_max)};
        pass.narrow_until = std::max(pass.narrow_until, until);
    }

    [[nodiscard]] bool over(PooledFile& file) const override {
        const auto next =
            pool_state_.extents.next(pool_state_.files.slot_of(file), file.flush.pass.at);
        return !next || next->extent.begin >= file.flush.pass.end;
    }

    void end(PooledFile& file, bool early) const override {
        file.flush.resumes_at = early ? file.flush.pass.at : Offset{0};
    }

private:
    // One small piece of the next deposit, after a failed request.
    [[nodiscard]] std::vector<Deposit> little(PooledFile& file, const FileSlot& slot) const {
        FlushPass& pass = file.flush.pass;
        const auto next = pool_state_.extents.next(slot, pass.at);
        if (!next || next->extent.begin >= pass.end) {
            pass.at = pass.end;
            return {};
        }
        const Offset begin = std::max(next->extent.begin, pass.at);
        const Deposit part =
            part_of(*next, {begin, std::min(narrow_length, next->extent.end() - begin)});
        pass.at = part.extent.end();
        return {part};
    }

    // The next batch; the pass continues after it.
    [[nodiscard]] std::vector<Deposit> some(PooledFile& file) const {
        FlushPass& pass = file.flush.pass;
        const FileSlot& slot = pool_state_.files.slot_of(file);
        if (pass.at < pass.narrow_until) {
            return little(file, slot);
        }
        const std::int64_t most =
            job_bytes(slot.window.load(relaxed), pool_state_.options.cap_bytes,
                      pool_state_.options.request_bytes_max);
        std::vector<Deposit> deposits;
        while (deposits.empty() && pass.at < pass.end) {
            std::int64_t bytes = 0;
            while (bytes < most && pass.at < pass.end) {
                const auto next = pool_state_.extents.next(slot, pass.at);
                if (!next || next->extent.begin >= pass.end) {
                    pass.at = pass.end;
                    break;
                }
                deposits.push_back(*next);
                bytes += next->extent.length.bytes();
                pass.at = next->extent.end();
            }
            if (!pass.whole) {
                deposits = only_full_stripes(deposits, file.open->stripes.stripe_bytes);
            }
        }
        return deposits;
    }
};

Turn turn_of(const Deposit& deposit) noexcept {
    return {deposit.time_ns, deposit.client, deposit.position};
}

// A batch is a block: deposits that are contiguous both in the order of deposit and in the file.
class FirstInFirstOut final : public DrainPolicy {
public:
    using DrainPolicy::DrainPolicy;

    [[nodiscard]] std::int64_t pressing_bytes(std::int64_t window_bytes) const override {
        return within(window_bytes, static_cast<std::int64_t>(block_bytes));
    }

    void begin(PooledFile& file, DrainReason /*why*/) const override {
        expects(!file.flush.batch, "no batch of the pass before is under way");
        const bool resumes = std::exchange(file.flush.backlog.resumes, false);
        file.flush.pass = {};
        file.flush.pass.under_way = true;
        file.flush.pass.from_start = !resumes;
        file.flush.pass.began_ns = pool_state_.ingest.taken_until_ns;
        if (!resumes) {
            fill_backlog(file);
        }
    }

    [[nodiscard]] std::vector<Deposit> next(PooledFile& file) const override {
        FifoBlock block{{.bytes = pool_state_.options.request_bytes_max,
                         // Failed deposits are retried one by one, so that they do not keep others
                         // back.
                         .pieces = file.flush.retry_delay_ns > 0 || file.flush.pass.failures > 0
                                       ? 1
                                       : transfer::CutLimits::pieces_max}};
        std::vector<Deposit> deposits;
        while (const auto first = front(file)) {
            const Length length = block.add(first->extent);
            if (length == Length{0}) {
                break;
            }
            deposits.push_back(part_of(*first, {first->extent.begin, length}));
            go_on_behind(file, deposits.back());
        }
        return deposits;
    }

    void failed(PooledFile& /*file*/, const Deposit& /*deposit*/, bool /*alone*/) const override {}

    [[nodiscard]] bool over(PooledFile& file) const override { return !front(file); }

    void end(PooledFile& file, bool early) const override {
        file.flush.backlog.resumes = early && front(file).has_value();
        if (!file.flush.backlog.resumes) {
            file.flush.backlog = {};
        }
    }

private:
    void fill_backlog(PooledFile& file) const {
        FlushBacklog& backlog = file.flush.backlog;
        const FileSlot& slot = pool_state_.files.slot_of(file);
        backlog = {};
        backlog.deposits.reserve(slot.extents.load(relaxed));
        Offset at{0};
        while (const auto next = pool_state_.extents.next(slot, at)) {
            backlog.deposits.push_back(*next);
            at = next->extent.end();
        }
        std::ranges::sort(backlog.deposits, {}, turn_of);
    }

    // The first deposit of the backlog, without the parts that have been overwritten or cut off
    // since.
    [[nodiscard]] std::optional<Deposit> front(PooledFile& file) const {
        FlushBacklog& backlog = file.flush.backlog;
        while (backlog.next < backlog.deposits.size()) {
            const Deposit& first = backlog.deposits[backlog.next];
            const auto found =
                pool_state_.extents.next(pool_state_.files.slot_of(file), first.extent.begin);
            const Deposit there = found ? part_of(*found, first.extent) : Deposit{};
            if (there.extent.empty()) {
                ++backlog.next;
            } else if (there.client == first.client &&
                       there.position == part_of(first, there.extent).position) {
                return there;
            } else {
                go_on_behind(file, there);
            }
        }
        return std::nullopt;
    }

    static void go_on_behind(PooledFile& file, const Deposit& part) {
        FlushBacklog& backlog = file.flush.backlog;
        expects(backlog.next < backlog.deposits.size(), "the part is of the first of the backlog");
        Deposit& first = backlog.deposits[backlog.next];
        const Offset end = part.extent.end();
        if (end >= first.extent.end()) {
            ++backlog.next;
        } else {
            first = part_of(first, {end, first.extent.end() - end});
        }
    }
};

}  // namespace

std::unique_ptr<const DrainPolicy> make_drain_policy(PoolState& pool_state) {
    if (pool_state.options.consistency == CacheConsistency::paper) {
        return std::make_unique<FirstInFirstOut>(pool_state);
    }
    return std::make_unique<ByOffset>(pool_state);
}

}  // namespace forebay::pool
