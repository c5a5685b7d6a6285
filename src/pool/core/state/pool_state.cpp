// The steps that concern more than one part of the pool.
#include "pool/core/state/pool_state.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <utility>

namespace forebay::pool {

namespace {

// The options with the restrictions of `consistency`: the cache of 2022 makes one request of at
// most a block at a time.
PoolOptions settled(PoolOptions options) noexcept {
    if (options.consistency == CacheConsistency::paper) {
        options.request_bytes_max =
            std::min(options.request_bytes_max, static_cast<std::int64_t>(block_bytes));
        options.requests_in_flight = 1;
    }
    return options;
}

}  // namespace

PoolState::PoolState(Directory& shared, const PoolPorts& node, const PoolOptions& wanted)
    : directory{shared},
      ports{node},
      options{settled(wanted)},
      extents{shared},
      clients{shared, node.clock, node.sleepers, counts},
      background{node.background_io},
      read_cache{shared, node, clean_blocks(wanted)},
      files{{.directory = shared,
             .ports = ports,
             .options = options,
             .ingest = ingest,
             .read_cache = read_cache,
             .background = background}},
      journal{*this, node.journal} {
    directory.header.cap.store(options.cap_bytes, relaxed);
    directory.header.consistency.store(options.consistency, relaxed);
    directory.header.durability.store(
        journal.asked() ? WriteDurability::node : WriteDurability::process, relaxed);
    directory.header.format.store(format, std::memory_order_release);
}

std::byte* PoolState::memory_of(const Deposit& deposit) const noexcept {
    const std::uint64_t number = deposit.position / block_bytes % blocks_max;
    const std::uint32_t block = block_of(directory.leases[deposit.client][number].load(relaxed));
    return clients.at(deposit.client).log().block(block) + deposit.position % block_bytes;
}

Result<PooledFile*> PoolState::make_known(DaemonFile& open) {
    if (excludes()) {
        open.stripes = {};
    }
    if (PooledFile* const file = files.find(open.identity)) {
        const ChangeStamp stamp = open.stamp;
        files.reopen(*file, std::move(open));
        journal.seen(*file, stamp);
        return file;
    }
    auto added = files.add(std::move(open));
    if (added && !files.closing() && journal.error() != 0) {
        files.leave(**added, ThroughReason::no_journal);
    }
    return added;
}

void PoolState::free(PooledFile& file, const std::vector<Deposit>& deposits) {
    std::int64_t bytes = 0;
    for (const Deposit& deposit : deposits) {
        clients.at(deposit.client).blocks.free(deposit.position, deposit.extent.length.size());
        bytes += deposit.extent.length.bytes();
    }
    if (bytes > 0) {
        invariant(file.deposits.held_bytes >= bytes, "what is freed was deposited");
        file.deposits.held_bytes -= bytes;
        files.slot_of(file).drained.fetch_add(bytes, relaxed);
        files.notify(file);
    }
}

void PoolState::begin_background_task(PooledFile& file, BackgroundTask::Company company,
                                      std::function<std::int64_t()> call,
                                      std::function<void(std::int64_t)> then) {
    files.mark_busy(file);
    background.begin(file, company, std::move(call), std::move(then));
}

bool PoolState::end_background_tasks() {
    return background.collect([this](PooledFile& file) { files.mark_busy(file); });
}

void PoolState::close_down(ThroughReason reason) {
    directory.header.closing.store(1, std::memory_order_seq_cst);
    files.close_down(reason);
    clients.seal_all();
}

void PoolState::wake_notified() {
    clients.wake_notified();
    files.wake_notified();
}

void PoolState::release_waiters() {
    clients.release_waiters();
    files.release_waiters();
    directory.header.taken_round.store(directory.header.round.load() + 1);
    ports.sleepers.wake(directory.header.taken_round);
}

}  // namespace forebay::pool
