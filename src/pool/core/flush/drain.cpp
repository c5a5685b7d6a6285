// Starts and ends flush batches, and turns failures into the file's sticky error and a later retry.
#include "pool/core/flush/drain.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/change_time.hpp"
#include "pool/core/flush/request_cutter.hpp"
#include "pool/core/state/room.hpp"
#include "storage/policy/tuning.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace forebay::pool {

namespace {

constexpr std::int32_t failures_max = 16;  // maximum number of failed batches in a pass
constexpr std::int64_t retry_delay_ns_min = 1'000'000'000;  // before a retry
constexpr std::int64_t retry_delay_ns_max = 30'000'000'000;
// Before a retry if space may come free soon; see hopes_for_room().
constexpr std::int64_t room_retry_ns = 10'000'000;

}  // namespace

bool Drain::collect() {
    bool any = false;
    pool_state_.files.for_each_busy([&](PooledFile& file) {
        if (!file.flush.batch) {
            return;
        }
        if (file.flush.batch->channel->run_once()) {
            file.flush.batch->progress_ns = pool_state_.now_ns();
            any = true;
        }
        if (file.flush.batch->channel->finished(0)) {
            finish(file);
            any = true;
        }
    });
    return any;
}

// Ends a batch: frees the deposits that were written and not overwritten meanwhile, and unpins all.
void Drain::finish(PooledFile& file) {
    const std::unique_ptr<FlushBatch> batch = std::move(file.flush.batch);
    expects(batch && !batch->deposits.empty(), "a batch has ended");
    invariant(file.flush.pass.under_way, "a batch is a part of a pass");
    const auto& failure = batch->channel->failure();
    const Extent written{Offset{0}, Length{failure.at}};
    // Read-cache blocks of these bytes are older than the deposits, so that they have to go first.
    file.stamp.mark_changed_here();
    for (const Deposit& deposit : batch->deposits) {
        pool_state_.read_cache.drop(file, deposit.extent);
    }
    std::vector<Deposit> taken;
    for (const Deposit& deposit : batch->deposits) {
        const Deposit part = part_of(deposit, written);
        if (!part.extent.empty() &&
            !pool_state_.extents.take(pool_state_.files.slot_of(file), part, taken)) {
            break;  // no extent is left to split one: the deposits are written once more
        }
    }
    for (const Deposit& deposit : taken) {
        file.flush.pass.drained_bytes += deposit.extent.length.bytes();
        pool_state_.counts.drained_bytes += deposit.extent.length.bytes();
    }
    pool_state_.free(file, taken);
    for (const Deposit& deposit : batch->deposits) {
        pool_state_.clients.at(deposit.client).blocks.unpin(deposit.position);
    }
    if (failure.happened()) {
        ++pool_state_.counts.failed_jobs;
        ++file.flush.pass.failures;
        file.flush.pass.error = failure.system == 0 ? EIO : failure.system;
        const auto failed = std::ranges::find_if(batch->deposits, [&](const Deposit& deposit) {
            return deposit.extent.end().bytes() > failure.at;
        });
        if (failed != batch->deposits.end()) {
            policy_->failed(file, *failed, batch->deposits.size() == 1);
        }
    }
    if (file.deposits.held_bytes == 0 || policy_->over(file)) {
        end_pass(file);
    }
    pool_state_.files.mark_busy(file);
}

void Drain::end_pass(PooledFile& file) {
    FlushState& flush = file.flush;
    FlushPass& pass = flush.pass;
    FileSlot& slot = pool_state_.files.slot_of(file);
    expects(pass.under_way && !flush.batch, "what ends is under way, and so is nothing of it");
    pass.under_way = false;
    policy_->end(file, pass.failures >= failures_max);
    if (pass.failures > 0 && hopes_for_room(pool_state_, file)) {
        flush.retry_ns = pool_state_.now_ns() + room_retry_ns;
    } else if (pass.failures > 0) {
        file.room.short_since_ns = never_ns;
        flush.error_reported = flush.error_reported && slot.error.load(relaxed) == pass.error;
        flush.error_healed = false;
        slot.error.store(pass.error, relaxed);
        flush.failed_ns = pass.began_ns;
        flush.retry_delay_ns =
            std::clamp(2 * flush.retry_delay_ns, retry_delay_ns_min, retry_delay_ns_max);
        flush.retry_ns = pool_state_.now_ns() + flush.retry_delay_ns;
    } else if (pass.whole && pass.from_start) {
        flush.retry_delay_ns = 0;
        file.room.short_since_ns = never_ns;
        flush.retry_ns = 0;
        flush.drained_until_ns = pass.began_ns;
        file.deposits.oldest_ns = pass.began_ns;
        file.journal.drained = pass.began_record;
        flush.error_healed = true;
    }
    pool_state_.files.notify(file);
}

// The file as policy/drain_order.hpp judges it.
DrainCandidate Drain::candidate(const PooledFile& file) {
    const bool leaving = pool_state_.files.state_of(file) == FileState::leaving;
    const bool waited_for = std::ranges::any_of(file.requests.waiting, [&](const FileRequest& one) {
        return one.task.kind != FileTask::Kind::truncate && !one.task.for_room &&
               !one.journal_entries && one.at_ns < pool_state_.ingest.taken_until_ns;
    });
    const bool truncates = std::ranges::any_of(file.requests.waiting, [](const FileRequest& one) {
        return one.task.kind == FileTask::Kind::truncate;
    });
    // There was no space: draining is retried soon, but not at once.
    const bool hopes = file.room.short_since_ns != never_ns;
    const bool rests = hopes && pool_state_.now_ns() < file.flush.retry_ns;
    const bool alone =
        file.background_task && file.background_task->company == BackgroundTask::Company::alone;
    return {.held_bytes = file.deposits.held_bytes,
            .pressing_bytes =
                policy_->pressing_bytes(pool_state_.files.slot_of(file).window.load(relaxed)),
            .oldest_ns = file.deposits.oldest_ns,
            .written_ns = file.deposits.written_ns,
            .retry_ns = file.flush.retry_ns,
            .asked = !rests && (waited_for || (leaving && (hopes || file.flush.retry_ns == 0))),
            .held_back = file.flush.batch != nullptr || truncates || alone || !file.open->storage};
}

bool Drain::start(bool pressed) {
    std::vector<DrainCandidate> candidates;
    std::vector<PooledFile*> files;
    std::int32_t shares = 0;  // used by the batches in flight
    const std::int64_t now = pool_state_.now_ns();
    pool_state_.files.for_each_busy([&](PooledFile& file) {
        const FlushState& flush = file.flush;
        shares += flush.batch && now - flush.batch->progress_ns < stalled_ns ? flush.shares : 0;
        files.push_back(&file);
        candidates.push_back(candidate(file));
    });
    const NodeSituation situation{.now_ns = now,
                                  .quiet_ns = pool_state_.options.quiet_ns,
                                  .age_max_ns = pool_state_.options.age_max_ns,
                                  .pressed = pressed,
                                  .closing = pool_state_.files.closing()};
    // When the pool closes down, no program needs the processors any more.
    const ports::TimeSource* const effort = pool_state_.ports.effort;
    if (effort != nullptr && effort_.rests(now, effort->now_ns()) && !pool_state_.files.closing()) {
        return false;
    }
    bool any = false;
    while (shares < pool_state_.options.files_at_once * shares_of_file) {
        const auto choice = next_to_drain(candidates, situation);
        if (!choice) {
            break;
        }
        invariant(choice->candidate < files.size(), "what is chosen was offered");
        PooledFile& file = *files[choice->candidate];
        if (pool_state_.journal.may_change(file)) {
            shares += start_batch(file, choice->why) ? file.flush.shares : 0;
            any = true;
        }
        candidates[choice->candidate].held_back = true;
    }
    return any;
}

// Begins the next batch of the file's pass, or a new pass. False: nothing of the pass is left.
bool Drain::start_batch(PooledFile& file, DrainReason why) {
    const bool too_late = std::ranges::any_of(file.requests.waiting, [&](const FileRequest& one) {
        return !one.task.for_room && one.at_ns < pool_state_.ingest.taken_until_ns &&
               one.at_ns >= file.flush.pass.began_ns;
    });
    const bool stripes_only = !file.flush.pass.whole && why != DrainReason::pressure;
    if (!file.flush.pass.under_way || too_late || stripes_only) {
        policy_->begin(file, why);
        file.flush.pass.began_record = file.journal.last;
    }
    std::vector<Deposit> deposits;
    if (file.flush.pass.failures < failures_max) {
        deposits = policy_->next(file);
    }
    if (deposits.empty()) {
        end_pass(file);
        return false;
    }
    submit(file, std::move(deposits));
    return true;
}

// Gives the deposits of a batch to the file's channel.
void Drain::submit(PooledFile& file, std::vector<Deposit> deposits) {
    FlushState& flush = file.flush;
    expects(!flush.batch, "one batch of a file is under way at a time");
    expects(file.open->storage != nullptr, "what is drained can be written");
    plan::Tuning tuning;
    tuning.requests_in_flight = pool_state_.options.requests_in_flight;
    tuning.request_bytes_max = pool_state_.options.request_bytes_max;
    if (!flush.gate) {
        const auto targets = static_cast<std::size_t>(std::max(file.open->stripes.targets, 1));
        flush.throttles.assign(targets, plan::Throttle::first(tuning, {}));
        flush.gate = std::make_unique<transfer::ThrottledGate>(flush.throttles);
    }
    std::vector<ports::Piece> pieces;
    pieces.reserve(deposits.size());
    std::int64_t bytes = 0;
    std::int64_t runs = 0;
    std::optional<Offset> end;
    for (const Deposit& deposit : deposits) {
        bytes += deposit.extent.length.bytes();
        runs += deposit.extent.begin == end ? 0 : 1;
        end = deposit.extent.end();
        pool_state_.clients.at(deposit.client).blocks.pin(deposit.position);
        pieces.push_back(
            {deposit.extent.begin, {pool_state_.memory_of(deposit), deposit.extent.length.size()}});
    }
    flush.shares = shares_of(bytes, runs);
    file.stamp.mark_changed_here();
    note_changing(pool_state_, file);
    flush.batch = std::make_unique<FlushBatch>();
    flush.batch->deposits = std::move(deposits);
    flush.batch->progress_ns = pool_state_.now_ns();
    flush.batch->channel = std::make_unique<transfer::Channel>(
        *file.open->storage, *flush.gate, pool_state_.ports.clock, transfer::ChannelOptions{});
    ++pool_state_.counts.jobs;
    flush.batch->channel->begin(
        0, std::make_unique<RequestCutter>(
               std::move(pieces), file.open->stripes,
               plan::request_bytes_max(tuning, file.open->stripes, IoDirection::write)));
    flush.batch->channel->run_once();
}

}  // namespace forebay::pool
