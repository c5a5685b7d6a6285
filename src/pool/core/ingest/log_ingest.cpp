#include "pool/core/ingest/log_ingest.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/lifecycle/file_opens.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace forebay::pool {

namespace {

// Numbers that may be given out beyond what is taken: one for each thread that waits.
constexpr std::uint64_t waiting_max = std::uint64_t{1} << 24;
// Positions that may be reserved beyond the credit.
constexpr std::uint64_t reserved_max = std::uint64_t{1} << 48;
// Extents that draining may need.
constexpr std::size_t extents_kept = 64;
// Where a file leaves, or the pool ends, a write that was begun before is waited for so long. A
// process that is suspended may take any time; one that is only slow copies once more.
constexpr std::int64_t suspended_ns = 100'000'000;
// The pool names at most so many of the writes that it gave up.
constexpr std::size_t given_up_max = 64;
// A log that has been full for so long, with the same entry at its end, is not waited for.
constexpr std::int64_t stuck_ns = 10'000'000'000;
// Rounds at the end, where there is no room for what was committed.
constexpr int vain_rounds_max = 3;
// The longest wait that one write may report.
constexpr std::int64_t waited_ns_max = std::int64_t{3600} * 1'000'000'000;

// How many numbers the client's log has given out; a client that asks once it is sealed gets none.
std::uint64_t numbers_of(const Client& client) noexcept {
    const std::uint64_t numbers =
        client.log().header().entries.load(std::memory_order_seq_cst) & ~log_sealed;
    return client.seal() ? std::min(numbers, client.seal()->numbers) : numbers;
}

// One past the last of them that has a place in the ring.
std::uint64_t numbers_end(const Client& client) noexcept {
    return std::clamp(numbers_of(client), client.ingest.looked_at,
                      std::max(client.ingest.looked_at, client.ingest.entries + entries_max));
}

// `seen` is what was read of the entry. False: its client has changed it since, and came first.
bool revoke(Entry& entry, std::uint64_t number, std::uint64_t seen) noexcept {
    return entry.state.compare_exchange_strong(seen, stated(number, EntryState::revoked),
                                               std::memory_order_seq_cst);
}

}  // namespace

bool LogIngest::run_once() {
    ++pool_state_.ingest.round;
    DirectoryHeader& header = pool_state_.directory.header;
    const std::uint32_t round = header.round.load(relaxed) + 1;
    // Before the first look at what is committed: a reader that has seen the round before waits for
    // this one.
    header.round.store(round, std::memory_order_seq_cst);
    items_.clear();
    // Whatever these count was committed before the cutoff.
    for (Client& client : pool_state_.clients.admitted()) {
        if (client.standing() <= Client::Standing::leaving) {
            client.ingest.commits =
                std::max(client.ingest.commits,
                         client.log().header().commits.load(std::memory_order_seq_cst));
            client.ingest.behind = false;
        }
    }
    cutoff_ns_ = pool_state_.now_ns();
    pool_state_.ingest.taken_until_ns = cutoff_ns_;
    for (Client& client : pool_state_.clients.admitted()) {
        if (client.is_taken_from()) {
            look_at(client);
        }
    }
    calendar_ns_ = items_.empty() ? calendar_ns_ : pool_state_.ports.calendar.now_ns();
    const auto order = [](const Item& item) {
        return std::tuple{item.time_ns, item.client, item.number};
    };
    if (!std::ranges::is_sorted(items_, {}, order)) {
        std::ranges::sort(items_, {}, order);
    }
    pool_state_.ingest.short_of_extents = false;
    std::size_t taken = 0;
    while (taken < items_.size() && take(items_[taken])) {
        ++taken;
    }
    if (taken < items_.size()) {
        pool_state_.ingest.short_of_extents = true;
        pool_state_.ingest.taken_until_ns = std::min(cutoff_ns_, items_[taken].time_ns);
        for (std::size_t i = taken; i < items_.size(); ++i) {
            put_back(items_[i]);
        }
    }
    bool all = true;
    for (Client& client : pool_state_.clients.admitted()) {
        all = all && (!client.ingest.behind || client.standing() > Client::Standing::leaving);
        publish(client);
    }
    if (all) {
        header.taken_round.store(round, std::memory_order_release);
        if (pool_state_.clients.count() > 1) {
            pool_state_.ports.sleepers.wake(header.taken_round);
        }
    }
    return taken > 0;
}

bool LogIngest::sensible(const Client& client) const {
    const LogHeader& header = client.log().header();
    const std::uint64_t entries = numbers_of(client);
    const std::uint64_t reserved = header.reserved.load(relaxed);
    return entries >= client.ingest.looked_at && entries - client.ingest.entries <= waiting_max &&
           reserved <= client.blocks.credit() + reserved_max;
}

void LogIngest::look_at(Client& client) {
    if (client.is_here() && !sensible(client)) {
        pool_state_.clients.distrust(client);
        return;
    }
    const std::uint64_t end = numbers_end(client);
    for (; client.ingest.looked_at < end; ++client.ingest.looked_at) {
        client.ingest.open.push_back({client.ingest.looked_at});
    }
    invariant(client.ingest.open.size() <= entries_max, "an entry has a place in the ring");
    std::erase_if(client.ingest.open, [&](OpenEntry& open) { return look_at_entry(client, open); });
    give_up_stuck(client);
}

// A write that its process has left in the middle (siglongjmp, a cancelled thread) stays reserved.
// When the ring has come round to it, the process would wait for itself.
void LogIngest::give_up_stuck(Client& client) {
    const bool waits = client.is_here() && !client.seal() && !client.ingest.open.empty() &&
                       client.ingest.open.front().number == client.ingest.entries &&
                       numbers_of(client) > client.ingest.entries + entries_max;
    if (!waits) {
        client.ingest.full_since_ns = never_ns;
        return;
    }
    if (client.ingest.full_since_ns == never_ns) {
        client.ingest.full_since_ns = cutoff_ns_;
    }
    if (cutoff_ns_ - client.ingest.full_since_ns <= stuck_ns) {
        return;
    }
    for (PooledFile& file : pool_state_.files.known()) {
        const auto opens = file.opens.by_client.find(client.number());
        if (opens != file.opens.by_client.end() && opens->second.writes) {
            pool_state_.files.leave(file, ThroughReason::stuck_log);
        }
    }
    pool_state_.clients.seal(client);
}

LogIngest::Item LogIngest::read(const Entry& entry) {
    return {.time_ns = entry.time_ns.load(relaxed),
            .slot = entry.file.load(relaxed),
            .generation = entry.generation.load(relaxed),
            .offset = entry.offset.load(relaxed),
            .position = entry.position.load(relaxed),
            .length = entry.length.load(relaxed),
            .kind = entry.kind.load(relaxed),
            .waited_ns = entry.waited_ns.load(relaxed)};
}

// True when the entry need not be looked at again.
bool LogIngest::look_at_entry(Client& client, OpenEntry& open) {
    const bool leaving = client.standing() == Client::Standing::leaving;
    Entry& entry = client.log().entry(open.number);
    const std::uint64_t seen = entry.state.load(std::memory_order_seq_cst);
    const EntryState state = pool::state_of(open.number, seen);
    if (state == EntryState::none || state == EntryState::revoked) {
        open.revoked =
            state == EntryState::revoked || (client.seal() && revoke(entry, open.number, seen));
        return leaving;
    }
    Item item = read(entry);
    item.client = client.number();
    item.number = open.number;
    if (state == EntryState::reserved) {
        if (takes_too_long(client, item) && revoke(entry, open.number, seen)) {
            open.revoked = true;
            give_up(client, item);
        } else {
            note_reserved(client.number(), item);
        }
        return leaving;
    }
    if (state == EntryState::abandoned) {
        return abandon(client, item) || leaving;
    }
    if (open.time_ns != 0) {
        item.time_ns = open.time_ns;
    }
    if (item.time_ns >= cutoff_ns_ && !leaving) {
        // It began after the cutoff; or says so.
        open.time_ns = std::min(item.time_ns, pool_state_.now_ns());
        client.ingest.behind = client.ingest.behind || open.time_ns <= cutoff_ns_;
        note_reserved(client.number(), item);
        return false;
    }
    item.time_ns = std::min(item.time_ns, cutoff_ns_ - 1);
    items_.push_back(item);
    return true;
}

// Its client may be suspended, and somebody waits for it. A revoked write was not acknowledged.
bool LogIngest::takes_too_long(const Client& client, const Item& item) const {
    if (client.seal() && cutoff_ns_ - client.seal()->since_ns > suspended_ns) {
        return true;
    }
    const PooledFile* const file = pool_state_.files.find(item.slot, item.generation);
    return file != nullptr && pool_state_.files.state_of(*file) == FileState::leaving &&
           cutoff_ns_ - file->lifecycle.left_ns > suspended_ns;
}

void LogIngest::give_up(const Client& client, const Item& item) {
    ++pool_state_.counts.revoked;
    const PooledFile* const file = pool_state_.files.find(item.slot, item.generation);
    if (pool_state_.files.closing() && file != nullptr && given_up_.size() < given_up_max) {
        given_up_.push_back({.process = client.process(),
                             .path = file->open->path,
                             .offset = item.offset,
                             .bytes = item.length});
    }
}

// Revokes the uncommitted entries: those still open, and those that the last round has not seen.
LogIngest::Swept LogIngest::sweep(Client& client) {
    Swept swept;
    std::vector<std::uint64_t> numbers;
    for (const OpenEntry& open : client.ingest.open) {
        numbers.push_back(open.number);
    }
    for (std::uint64_t number = client.ingest.looked_at; number < numbers_end(client); ++number) {
        numbers.push_back(number);
    }
    for (const std::uint64_t number : numbers) {
        Entry& entry = client.log().entry(number);
        std::uint64_t seen = entry.state.load(std::memory_order_seq_cst);
        while (pool::state_of(number, seen) == EntryState::none ||
               pool::state_of(number, seen) == EntryState::reserved) {
            swept.revoked = revoke(entry, number, seen) || swept.revoked;
            seen = entry.state.load(std::memory_order_seq_cst);
        }
        swept.committed = swept.committed || pool::state_of(number, seen) == EntryState::committed;
    }
    return swept;
}

// The sweep comes last: no number that it has not seen is given a place in the ring behind it.
void LogIngest::refuse_all() {
    for (int vain = 0; vain < vain_rounds_max;) {
        const bool took = run_once();
        Swept all;
        for (Client& client : pool_state_.clients.admitted()) {
            if (client.is_here()) {
                const Swept swept = sweep(client);
                all = {.revoked = all.revoked || swept.revoked,
                       .committed = all.committed || swept.committed};
            }
        }
        if (!all.revoked && !all.committed) {
            return;
        }
        vain = took || all.revoked ? 0 : vain + 1;
    }
}

// A client that waits until the file has left the pool waits for this entry, too.
void LogIngest::note_reserved(std::uint32_t number, const Item& item) {
    PooledFile* const file = pool_state_.files.find(item.slot, item.generation);
    if (file == nullptr || item.kind != EntryKind::deposit) {
        return;
    }
    const auto opens = file->opens.by_client.find(number);
    if (opens != file->opens.by_client.end() && opens->second.writes) {
        file->lifecycle.reserved_in_round = pool_state_.ingest.round;
    }
}

namespace {

bool in_one_block(std::uint64_t position, std::uint32_t length) noexcept {
    return length > 0 && length <= block_bytes && position % block_bytes + length <= block_bytes;
}

}  // namespace

bool LogIngest::abandon(Client& client, const Item& item) {
    auto answer = LogBlocks::Answer::refused;
    if (item.kind == EntryKind::deposit && in_one_block(item.position, item.length)) {
        answer = client.blocks.account(item.position, item.length, LogBlocks::Use::nothing);
    }
    if (answer == LogBlocks::Answer::refused) {
        ++pool_state_.counts.refused;
        pool_state_.clients.distrust(client);
    }
    return answer != LogBlocks::Answer::later;
}

// False: there is no room for more extents, so that it has to wait.
bool LogIngest::take(const Item& item) {
    if (item.kind == EntryKind::deposit) {
        return deposit(item);
    }
    ++pool_state_.counts.entries;
    PooledFile* const file = pool_state_.files.find(item.slot, item.generation);
    if (item.kind == EntryKind::closed && file != nullptr) {
        close_file(pool_state_, item.client, *file);
    } else if (item.kind == EntryKind::wanted && file != nullptr) {
        fetch_.wish(item.client, *file, item.offset, item.length);
    } else if (item.kind != EntryKind::wanted && item.kind != EntryKind::closed) {
        ++pool_state_.counts.refused;
        pool_state_.clients.distrust(pool_state_.clients.at(item.client));
    }
    return true;
}

// Refuses an entry that no client of ours ever writes, and distrusts its client. A file that is not
// open for writing (any more) is the program's own mistake.
bool LogIngest::deposit(const Item& item) {
    Client& client = pool_state_.clients.at(item.client);
    std::int64_t end = 0;
    const bool shaped =
        item.offset >= 0 && in_one_block(item.position, item.length) &&
        !__builtin_add_overflow(item.offset, static_cast<std::int64_t>(item.length), &end);
    PooledFile* const file = shaped ? pool_state_.files.find(item.slot, item.generation) : nullptr;
    bool allowed = false;
    if (file != nullptr) {
        const auto opens = file->opens.by_client.find(item.client);
        allowed = opens != file->opens.by_client.end() && opens->second.writes &&
                  pool_state_.files.state_of(*file) != FileState::through;
    }
    if (allowed && pool_state_.extents.room() < extents_kept) {
        return false;
    }
    // Blocks are leased as a whole.
    const bool makes_sense = shaped && (!allowed || item.position < client.blocks.credit());
    using Use = LogBlocks::Use;
    const auto answer = makes_sense ? client.blocks.account(item.position, item.length,
                                                            allowed ? Use::deposited : Use::nothing)
                                    : LogBlocks::Answer::refused;
    ++pool_state_.counts.entries;
    if (allowed && answer == LogBlocks::Answer::done) {
        record_deposit(*file, item);
        return true;
    }
    ++pool_state_.counts.refused;
    if (answer == LogBlocks::Answer::refused) {
        pool_state_.clients.distrust(client);
    }
    return true;
}

// The newest bytes of the file.
void LogIngest::record_deposit(PooledFile& file, const Item& item) {
    expects(item.offset >= 0 && item.length > 0, "the entry was checked");
    FileSlot& slot = pool_state_.files.slot_of(file);
    const Extent extent{Offset{item.offset}, Length{item.length}};
    slot.size.store(std::max(slot.size.load(relaxed), extent.end().bytes()),
                    std::memory_order_release);
    slot.modified_ns.store(calendar_ns_, relaxed);
    slot.taken.fetch_add(item.length, relaxed);
    slot.waited_ns.fetch_add(std::clamp(item.waited_ns, std::int64_t{0}, waited_ns_max), relaxed);
    file.deposits.oldest_ns = file.deposits.held_bytes == 0 ? cutoff_ns_ : file.deposits.oldest_ns;
    file.deposits.written_ns = cutoff_ns_;
    file.deposits.held_bytes += item.length;
    if (file.requests.truncates) {
        file.requests.deposited_since.push_back(extent);
    }
    displaced_.clear();
    const Deposit deposit{.extent = extent,
                          .client = item.client,
                          .position = item.position,
                          .time_ns = item.time_ns};
    const bool put = pool_state_.extents.put(slot, deposit, displaced_);
    invariant(put, "there is room for more extents");
    pool_state_.journal.append(file, deposit);
    pool_state_.free(file, displaced_);
    slot.high.store(std::max(slot.high.load(relaxed), file.deposits.held_bytes), relaxed);
    pool_state_.files.mark_busy(file);
}

void LogIngest::put_back(const Item& item) {
    Client& client = pool_state_.clients.at(item.client);
    const auto place =
        std::ranges::lower_bound(client.ingest.open, item.number, {}, &OpenEntry::number);
    invariant(place == client.ingest.open.end() || place->number != item.number,
              "an entry was taken once");
    client.ingest.open.insert(place, {item.number, item.time_ns});
    client.ingest.behind = true;
    note_reserved(item.client, item);
}

void LogIngest::publish(Client& client) {
    if (client.standing() == Client::Standing::gone) {
        return;
    }
    if (client.standing() == Client::Standing::leaving && client.ingest.open.empty()) {
        close_all_files(pool_state_, client.number());
        pool_state_.clients.end_log(client);
        return;
    }
    ClientSlot& slot = pool_state_.clients.slot_of(client);
    const std::uint64_t entries =
        client.ingest.open.empty() ? client.ingest.looked_at : client.ingest.open[0].number;
    invariant(entries >= client.ingest.entries, "what is done with stays so");
    if (entries != client.ingest.entries) {
        client.ingest.entries = entries;
        slot.entries.store(entries, std::memory_order_release);
        client.notify();
    }
    if (!client.ingest.behind && client.ingest.commits != slot.commits.load(relaxed)) {
        slot.commits.store(client.ingest.commits, std::memory_order_release);
        pool_state_.journal.note_commits(client, client.ingest.commits);
        client.notify();
    }
}

bool LogIngest::over(const Client& client) {
    return std::ranges::all_of(client.ingest.open, &OpenEntry::revoked);
}

bool LogIngest::idle() const { return std::ranges::all_of(pool_state_.clients.admitted(), over); }

bool LogIngest::all_taken() const {
    return std::ranges::all_of(pool_state_.clients.admitted(), [](const Client& client) {
        return !client.is_taken_from() || (client.seal() && over(client));
    });
}

}  // namespace forebay::pool
