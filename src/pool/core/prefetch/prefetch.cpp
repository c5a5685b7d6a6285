// Each file has a channel that reads its blocks, one job for each. After an error nothing more is
// read ahead of the file: a reader reads the file itself and gets the error.
#include "pool/core/prefetch/prefetch.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/request_cutter.hpp"
#include "pool/protocol/read_cache.hpp"
#include "storage/policy/tuning.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace forebay::pool {

namespace {

constexpr auto block = static_cast<std::int64_t>(block_bytes);
// Blocks below this offset are read ahead. The one beyond it ends behind the last offset that there
// is.
constexpr std::int64_t blocks_end = std::numeric_limits<std::int64_t>::max() / block * block;

constexpr std::size_t in_flight_max = 32;  // blocks in flight for all files
// Maximum number of blocks that one hint asks for; another hint asks for the rest.
constexpr std::int64_t wish_blocks_max = 64;
// Ranges are read in units of this many bytes.
constexpr std::int64_t grain = 64 << 10;
// A client without a hint for this long is not counted as a reader.
constexpr std::int64_t reader_ns = 1'000'000'000;

// The part [begin, end) of one block, rounded out to units of `grain`.
CleanRange range_in_block(std::int64_t begin, std::int64_t end) noexcept {
    const std::int64_t first = begin / block * block;
    const std::int64_t rounded = (end - first + grain - 1) / grain * grain;
    return {static_cast<std::uint32_t>((begin - first) / grain * grain),
            static_cast<std::uint32_t>(std::min(rounded, block))};
}

}  // namespace

// Publishes how many blocks each reader may have ahead of it: half of the read cache is for blocks
// that no reader has used yet, the other half for readers that come later.
void BlockPrefetcher::publish_share() {
    const std::size_t readers = std::max<std::size_t>(readers_.size(), 1);
    const std::size_t share = pool_state_.read_cache.room() / (2 * readers);
    const std::uint32_t least = pool_state_.read_cache.room() > 0 ? 1 : 0;
    pool_state_.directory.header.clean_share.store(
        std::clamp(static_cast<std::uint32_t>(share), least, clean_share_max), relaxed);
}

void BlockPrefetcher::count_reader(std::uint32_t client) {
    const std::int64_t now = pool_state_.ingest.taken_until_ns;
    const bool known = !readers_.insert_or_assign(client, now).second;
    const bool stale = now - counted_ns_ >= reader_ns;
    if (stale) {
        std::erase_if(readers_,
                      [now](const auto& reader) { return now - reader.second >= reader_ns; });
        counted_ns_ = now;
    }
    if (!known || stale) {
        publish_share();
    }
}

bool BlockPrefetcher::may_fetch(const PooledFile& file) {
    return pool_state_.read_cache.room() > 0 &&
           pool_state_.files.state_of(file) == FileState::pooled && !file.prefetch.gave_up &&
           !(pool_state_.excludes() && file.deposits.held_bytes > 0);
}

void BlockPrefetcher::wish(std::uint32_t client, PooledFile& file, std::int64_t offset,
                           std::uint32_t length) {
    std::int64_t end = 0;
    if (offset < 0 || length == 0 || __builtin_add_overflow(offset, std::int64_t{length}, &end) ||
        !file.opens.by_client.contains(client) || !may_fetch(file)) {
        return;
    }
    ++pool_state_.counts.wishes;
    count_reader(client);
    end = std::min({end,
                    std::max(file.stamp.bytes, pool_state_.files.slot_of(file).size.load(relaxed)),
                    saturated_sum(offset / block * block, wish_blocks_max * block), blocks_end});
    for (std::int64_t at = offset; at < end;) {
        const std::int64_t to = std::min(end, (at / block + 1) * block);
        wish_block(file, at / block, range_in_block(at, to));
        at = to;
    }
}

SharedBytes BlockPrefetcher::share(PooledFile& file, const Extent& range, bool begins) {
    using enum SharedBytes::State;
    const std::int64_t begin = range.begin.bytes();
    const std::int64_t number = begin / block;
    if (begin < 0 || begin >= blocks_end || range.empty() ||
        range.length.bytes() > block - begin % block || file.deposits.held_bytes > 0 ||
        file.stamp.changed_here || file.stamp.fresh || !may_fetch(file)) {
        return {};
    }
    const CleanRange wanted = range_in_block(begin, range.end().bytes());
    if (begins) {
        wish_block(file, number, wanted);
    }
    const auto known = pool_state_.read_cache.find(file, number);
    if (!known || !pool_state_.read_cache.has(*known, wanted)) {
        return {};
    }
    file.prefetch.asked_by_peer_ns = pool_state_.now_ns();
    pool_state_.files.mark_busy(file);
    if (!pool_state_.read_cache.ready(*known)) {
        return {.state = coming};
    }
    const auto first = static_cast<std::uint32_t>(begin % block);
    const auto end = static_cast<std::uint32_t>(range.end().bytes() - number * block);
    const std::uint32_t last =
        std::clamp(pool_state_.directory.clean[*known].end.load(relaxed), first, end);
    return {.state = there,
            .bytes = {pool_state_.ports.clean->block(*known) + first, std::size_t{last - first}}};
}

void BlockPrefetcher::wish_block(PooledFile& file, std::int64_t number, CleanRange range) {
    if (const auto known = pool_state_.read_cache.find(file, number)) {
        if (pool_state_.read_cache.has(*known, range) || !pool_state_.read_cache.ready(*known)) {
            pool_state_.read_cache.touch(*known);
            return;
        }
        pool_state_.read_cache.drop(file, *known);
        range = {0, block_bytes};
    }
    if (pool_state_.excludes()) {
        make_room(file);
        file.prefetch.fifo.push_back(number);
    }
    const FetchedBlock taken = pool_state_.read_cache.take(file, number, range);
    if (taken.number != no_clean) {
        file.prefetch.queue.push_back(taken);
        list(file);
    }
}

// FIFO replacement: if the file's window is full, the block that was read first is dropped.
void BlockPrefetcher::make_room(PooledFile& file) {
    std::deque<std::int64_t>& fifo = file.prefetch.fifo;
    const std::int64_t most = pool_state_.files.slot_of(file).window.load(relaxed) / block;
    while (!fifo.empty() && std::ssize(fifo) >= most) {
        if (const auto first = pool_state_.read_cache.find(file, fifo.front())) {
            pool_state_.read_cache.drop(file, *first);
        }
        fifo.pop_front();
    }
}

void BlockPrefetcher::list(PooledFile& file) {
    if (!file.prefetch.listed) {
        file.prefetch.listed = true;
        files_.push_back(file.slot);
    }
}

bool BlockPrefetcher::run_once(bool memory_is_short) {
    bool any = pool_state_.read_cache.room() > 0 && pool_state_.read_cache.shrink(memory_is_short);
    for (const std::uint32_t slot : files_) {
        any = collect(pool_state_.files.at(slot)) || any;
    }
    for (const std::uint32_t slot : files_) {
        any = start(pool_state_.files.at(slot)) || any;
    }
    std::erase_if(files_, [&](std::uint32_t slot) {
        PooledFile& file = pool_state_.files.at(slot);
        invariant(file.prefetch.listed, "a file knows that something of it is fetched");
        file.prefetch.listed = file.prefetch.in_flight > 0 || !file.prefetch.queue.empty();
        if (!file.prefetch.listed) {
            pool_state_.files.mark_busy(file);  // the file may be forgotten now
        }
        return !file.prefetch.listed;
    });
    DirectoryHeader& header = pool_state_.directory.header;
    header.clean_bytes.store(pool_state_.read_cache.bytes(), relaxed);
    header.fetched_bytes.store(pool_state_.counts.fetched_bytes, relaxed);
    if (!files_.empty()) {  // so that no file is always the first
        std::ranges::rotate(files_, files_.begin() + 1);
    }
    return any;
}

bool BlockPrefetcher::collect(PooledFile& file) {
    PrefetchState& prefetch = file.prefetch;
    if (prefetch.in_flight == 0) {
        return false;
    }
    prefetch.channel->run_once();
    bool any = false;
    const auto& failure = prefetch.channel->failure();
    for (std::size_t job = 0; job < PrefetchState::jobs; ++job) {
        if (prefetch.under_way[job].number != no_clean && prefetch.channel->finished(job)) {
            end(file, job, failure.happened() ? EIO : 0);
            any = true;
        }
    }
    if (failure.happened() && prefetch.in_flight == 0) {
        give_up(file);
    }
    return any;
}

void BlockPrefetcher::end(PooledFile& file, std::size_t job, int error) {
    PrefetchState& prefetch = file.prefetch;
    const FetchedBlock ended = std::exchange(prefetch.under_way[job], {});
    expects(ended.number != no_clean, "a block was being read");
    invariant(prefetch.in_flight > 0 && in_flight_ >= prefetch.in_flight,
              "a block that was being read is counted");
    const CleanSlot& slot = pool_state_.directory.clean[ended.number];
    const std::int64_t begin = slot.block.load(relaxed) * block;
    auto end = static_cast<std::int64_t>(slot.end.load(relaxed));
    if (error != 0) {
        end = 0;
        ++pool_state_.counts.failed_fetches;
    } else if (prefetch.channel->bytes_moved(job) == 0) {
        end = std::clamp<std::int64_t>(prefetch.channel->end_of_file() - begin, 0, end);
    }
    if (end - slot.begin.load(relaxed) == block) {
        note_time(file, pool_state_.now_ns() - prefetch.begun_ns[job]);
    }
    --prefetch.in_flight;
    --in_flight_;
    pool_state_.counts.fetched_bytes += std::max<std::int64_t>(end - slot.begin.load(relaxed), 0);
    pool_state_.read_cache.finish(ended, static_cast<std::uint32_t>(end));
}

// Clients compare this time with that of reading the file piece by piece.
void BlockPrefetcher::note_time(const PooledFile& file, std::int64_t ns) const {
    std::atomic<std::uint32_t>& known = pool_state_.files.slot_of(file).fetch_us;
    const std::int64_t before = known.load(relaxed);
    const std::int64_t us = std::clamp<std::int64_t>(ns / 1000, 1, 1'000'000'000);
    known.store(static_cast<std::uint32_t>(before == 0 ? us : (3 * before + us) / 4), relaxed);
}

void BlockPrefetcher::give_up(PooledFile& file) {
    file.prefetch.gave_up = true;
    file.prefetch.channel.reset();
    pool_state_.read_cache.drop_all(file);
}

bool BlockPrefetcher::prepare(PooledFile& file) {
    PrefetchState& prefetch = file.prefetch;
    if (!prefetch.source && file.open->open_for_reading) {
        prefetch.source = file.open->open_for_reading(file.stamp.seen);
    }
    if (!prefetch.source) {
        return false;
    }
    if (!prefetch.gate) {
        const std::int32_t k = pool_state_.options.requests_in_flight;
        prefetch.gate = std::make_unique<transfer::FixedGate>(
            std::max(file.open->stripes.targets, 1),
            k == plan::find_requests_in_flight ? plan::first_requests_in_flight : k);
    }
    if (!prefetch.channel) {
        prefetch.channel = std::make_unique<transfer::Channel>(
            *prefetch.source, *prefetch.gate, pool_state_.ports.clock,
            transfer::ChannelOptions{.direction = IoDirection::read, .jobs = PrefetchState::jobs});
    }
    return true;
}

bool BlockPrefetcher::start(PooledFile& file) {
    PrefetchState& prefetch = file.prefetch;
    bool any = false;
    while (!prefetch.queue.empty() && in_flight_ < in_flight_max &&
           prefetch.in_flight < PrefetchState::jobs) {
        if (!prepare(file)) {
            give_up(file);
            return true;
        }
        if (prefetch.channel->failure().happened()) {
            break;  // give_up() follows when the blocks in flight have ended
        }
        const FetchedBlock next = prefetch.queue.front();
        prefetch.queue.pop_front();
        if (const auto place = pool_state_.read_cache.begin(next)) {
            const auto* const free =
                std::ranges::find(prefetch.under_way, no_clean, &FetchedBlock::number);
            invariant(free != prefetch.under_way.end(), "a job is free");
            begin(file, static_cast<std::size_t>(free - prefetch.under_way.begin()), next, *place);
            any = true;
        }
    }
    if (any) {
        prefetch.channel->run_once();
    }
    return any;
}

void BlockPrefetcher::begin(PooledFile& file, std::size_t job, const FetchedBlock& taken,
                            const ReadCache::Place& place) {
    PrefetchState& prefetch = file.prefetch;
    expects(prefetch.under_way[job].number == no_clean, "the job is free");
    plan::Tuning tuning;
    tuning.requests_in_flight = pool_state_.options.requests_in_flight;
    tuning.request_bytes_max = pool_state_.options.request_bytes_max;
    std::byte* const memory = pool_state_.ports.clean->block(taken.number) + place.range.begin;
    std::vector<ports::Piece> pieces{{Offset{place.block * block + place.range.begin},
                                      {memory, std::size_t{place.range.end - place.range.begin}}}};
    prefetch.under_way[job] = taken;
    prefetch.begun_ns[job] = pool_state_.now_ns();
    ++prefetch.in_flight;
    ++in_flight_;
    ++pool_state_.counts.fetches;
    prefetch.channel->begin(
        job, std::make_unique<RequestCutter>(
                 std::move(pieces), file.open->stripes,
                 plan::request_bytes_max(tuning, file.open->stripes, IoDirection::read)));
}

}  // namespace forebay::pool
