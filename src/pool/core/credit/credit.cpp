// Leases one block at a time to the clients in turn, so that no client gets all that is left.
#include "pool/core/credit/credit.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/drain.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// If clients have waited for 100 ms for memory that cannot come free, their files leave the pool.
constexpr std::int64_t dry_ns = 100'000'000;
// A client that has closed its last file keeps its memory for this long, since it may open another
// one. Providing and releasing memory for each file costs a hundred times what opening the file
// does.
constexpr std::int64_t between_files_ns = 1'000'000'000;

std::uint64_t blocks_of(std::uint64_t positions) noexcept {
    return (positions + block_bytes - 1) / block_bytes;
}

// The positions that the client claims to have reserved, limited to what is plausible.
std::uint64_t reserved(const Client& client) noexcept {
    const std::uint64_t most = client.blocks.credit() + blocks_max * block_bytes;
    return std::min(client.log().header().reserved.load(relaxed), most);
}

bool writes(const Client& client) noexcept {
    return client.files_written() > 0 && client.is_here();
}

std::int64_t held_by(const Client& client) noexcept {
    return static_cast<std::int64_t>(client.blocks.provided());
}

// The number of the client's blocks that hold bytes, or will soon.
std::int64_t used_by(const Client& client) noexcept {
    auto blocks = held_by(client) - static_cast<std::int64_t>(client.blocks.idle());
    const std::uint64_t begun = blocks_of(reserved(client));
    if (client.is_here() && begun < client.blocks.leased_end()) {
        blocks -= static_cast<std::int64_t>(client.blocks.leased_end() - begun);
    }
    return std::max<std::int64_t>(blocks, 0);
}

}  // namespace

bool Credit::run_once() {
    LeaseTotals lending = survey();
    touches_left_ = pool_state_.journal.waited_for()
                        ? touched_least
                        : std::clamp(lending.writers, touched_least, touched_most);
    look_at_demand(lending);
    for (Client& client : pool_state_.clients.admitted()) {
        release(client, lending);
    }
    bool any = false;
    const auto all = pool_state_.clients.admitted();
    turn_ = all.empty() ? 0 : (turn_ + 1) % all.size();
    for (bool more = !all.empty(); more;) {
        more = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            more = lend(all[(turn_ + i) % all.size()], lending) || more;
        }
        any = any || more;
    }
    publish(lending);
    let_waiting_files_leave();
    return any;
}

LeaseTotals Credit::survey() {
    LeaseTotals lending;
    const std::int64_t now = pool_state_.now_ns();
    lending.cap = (pool_state_.options.cap_bytes - pool_state_.read_cache.bytes()) /
                  static_cast<std::int64_t>(block_bytes);
    for (Client& client : pool_state_.clients.admitted()) {
        lending.held += held_by(client);
        client.lending.wrote_ns = writes(client) ? std::optional{now} : client.lending.wrote_ns;
        if (writes(client)) {
            ++lending.writers;
            lending.missing += std::max<std::int64_t>(0, minimum_blocks - held_by(client));
        }
    }
    for (const Client& client : pool_state_.clients.admitted()) {
        const bool waits = writes(client) && reserved(client) > client.blocks.credit();
        lending.others_wait =
            lending.others_wait || (waits && held_by(client) < fair_share(lending));
    }
    return lending;
}

void Credit::look_at_demand(LeaseTotals& lending) {
    const std::int64_t now = pool_state_.now_ns();
    if (now - looked_ns_ < look_ns) {
        return;
    }
    looked_ns_ = now;
    for (Client& client : pool_state_.clients.admitted()) {
        const std::uint64_t before = std::min(client.lending.reserved_before, reserved(client));
        const std::uint64_t used = (reserved(client) - before) / block_bytes;
        client.lending.reserved_before = reserved(client);
        client.lending.demand =
            next_demand(client.lending.demand, static_cast<std::int64_t>(used), used_by(client));
        warm(client, lending);
    }
}

// One block at a time: a client that opens a file and ends soon shall cost little.
void Credit::warm(Client& client, LeaseTotals& lending) {
    if (pool_state_.journal.waited_for()) {
        return;
    }
    const std::int64_t wanted =
        used_by(client) + warmed(client.lending.demand, used_by(client), lending);
    if (writes(client) && held_by(client) < wanted && may_be_warmed(held_by(client), lending)) {
        static_cast<void>(provide(client, lending));
    }
}

// The number of the block up to which the client is to have credit, `ahead` blocks beyond what it
// has reserved.
std::uint64_t Credit::wanted_end(const Client& client, std::int64_t ahead) const {
    return writes(client) ? blocks_of(reserved(client)) + static_cast<std::uint64_t>(ahead) : 0;
}

// A block that was abandoned in advance needs no memory.
bool Credit::lend(Client& client, LeaseTotals& lending) {
    LogBlocks& blocks = client.blocks;
    if (blocks.leased_end() >= wanted_end(client, ahead(client.lending.demand, lending)) ||
        !blocks.may_lease()) {
        return false;
    }
    if (!blocks.next_needs_memory()) {
        blocks.lease({});
        return true;
    }
    if (blocks.idle() == 0 &&
        (blocks.leased_end() >= wanted_end(client, touched_ahead(client.lending.demand, lending)) ||
         !provide(client, lending))) {
        return false;
    }
    const std::uint32_t physical = blocks.take_idle();
    invariant(physical < blocks_max, "a lease is of a block of the client's memory");
    const std::uint32_t lease = physical | (blocks.take_newness(physical) ? new_memory : 0);
    pool_state_.directory.leases[client.number()][blocks.leased_end() % blocks_max].store(lease,
                                                                                          relaxed);
    blocks.lease(physical);
    return true;
}

bool Credit::provide(Client& client, LeaseTotals& lending) {
    const std::int64_t holds = held_by(client);
    const auto physical = client.blocks.absent();
    if (!physical || touches_left_ == 0 || !may_have_more(holds, lending) ||
        !pool_state_.ports.memory.provide(client.number(), *physical)) {
        return false;
    }
    client.blocks.provide(*physical);
    --touches_left_;
    invariant(touches_left_ >= 0, "no more memory is provided than one round may");
    ++lending.held;
    lending.missing -= holds < minimum_blocks ? 1 : 0;
    return true;
}

// Whether the client has closed its last file just now, and no other client waits for memory.
bool Credit::between_files(const Client& client, const LeaseTotals& lending) const {
    return client.files_written() == 0 && client.is_here() && !lending.others_wait &&
           client.lending.wrote_ns &&
           pool_state_.now_ns() - *client.lending.wrote_ns < between_files_ns;
}

// Gives back idle memory that the client will not need soon, or that others wait for.
void Credit::release(Client& client, LeaseTotals& lending) {
    const bool may_write = writes(client) || between_files(client, lending);
    if (client.files_written() == 0 && client.ingest.open.empty() && !may_write) {
        // No thread of the client can be about to write beyond what is reserved.
        client.blocks.revoke(blocks_of(reserved(client)));
    }
    const auto keeps = [&]() -> std::int64_t {
        const bool others = lending.others_wait && held_by(client) > fair_share(lending);
        return !may_write || others ? 0 : kept(client.lending.demand, used_by(client), lending);
    };
    while (client.blocks.idle() > 0 && static_cast<std::int64_t>(client.blocks.idle()) > keeps()) {
        pool_state_.ports.memory.release(client.number(), client.blocks.take_coldest());
        --lending.held;
        invariant(lending.held >= 0, "what is given back was lent");
    }
}

void Credit::publish(const LeaseTotals& lending) {
    wanting_ = false;
    in_use_ = 0;
    for (Client& client : pool_state_.clients.admitted()) {
        ClientSlot& slot = pool_state_.clients.slot_of(client);
        wanting_ = wanting_ || (writes(client) && reserved(client) > client.blocks.credit());
        in_use_ += used_by(client);
        if (client.blocks.credit() != slot.credit.load(relaxed)) {
            slot.credit.store(client.blocks.credit(), std::memory_order_release);
            client.notify();
        }
    }
    DirectoryHeader& header = pool_state_.directory.header;
    const std::int64_t leased = lending.held * static_cast<std::int64_t>(block_bytes);
    header.leased.store(leased, relaxed);
    header.high.store(std::max(header.high.load(relaxed), leased), relaxed);
    const auto processors = static_cast<std::int64_t>(pool_state_.options.processors);
    const bool crowded = processors > 0 && lending.writers >= processors;
    header.crowded.store(crowded ? 1 : 0, relaxed);
}

// A batch without progress, or a file with an error, frees nothing.
bool Credit::any_comes_free() const {
    const std::int64_t now = pool_state_.now_ns();
    return pool_state_.files.any_busy([&](const PooledFile& file) {
        const FlushState& flush = file.flush;
        if (file.deposits.held_bytes == 0 && !flush.batch) {
            return false;
        }
        const bool stalled = flush.batch && now - flush.batch->progress_ns >= stalled_ns;
        return !stalled && pool_state_.files.slot_of(file).error.load(relaxed) == 0;
    });
}

// If all memory is full of deposits that cannot be drained, or the node has no memory, the files
// that waiting clients write to leave the pool: those clients shall not wait until another file's
// storage recovers.
void Credit::let_waiting_files_leave() {
    const std::int64_t now = pool_state_.now_ns();
    if (!wanting_ || any_comes_free()) {
        dry_since_ns_ = never_ns;
        return;
    }
    if (dry_since_ns_ == never_ns) {
        dry_since_ns_ = now;
    }
    if (now - dry_since_ns_ < dry_ns) {
        return;
    }
    dry_since_ns_ = never_ns;
    for (PooledFile& file : pool_state_.files.known()) {
        if (file.lifecycle.reserved_in_round == pool_state_.ingest.round) {
            pool_state_.files.leave(file, ThroughReason::no_memory);
        }
    }
}

}  // namespace forebay::pool
