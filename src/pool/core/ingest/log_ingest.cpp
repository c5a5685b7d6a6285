// The rounds of the log ingest, the checks of entries, and the revoking of those that take too
// long.
#include "pool/core/ingest/log_ingest.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/lifecycle/file_opens.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace forebay::pool {

namespace {

// Maximum number of entry numbers given out beyond those taken: one for each thread that waits.
constexpr std::uint64_t waiting_max = std::uint64_t{1} << 24;
// Maximum number of positions reserved beyond the credit.
constexpr std::uint64_t reserved_max = std::uint64_t{1} << 48;
// Free extents that are kept for draining and truncation, which may have to split some.
constexpr std::size_t extents_kept = 64;
// When a file leaves or the pool ends, a write that has begun is waited for this long (100 ms),
// then revoked. A process may be suspended for any time; one that is only slow has to copy once
// more.
constexpr std::int64_t suspended_ns = 100'000'000;
// Maximum number of given-up writes that are reported.
constexpr std::size_t given_up_max = 64;
// A ring that has been full for this long (10 s), with the same oldest entry, is given up.
constexpr std::int64_t stuck_ns = 10'000'000'000;
// Maximum number of rounds in a row at the end that take nothing, since there are no free extents.
constexpr int vain_rounds_max = 3;
// A write may report a wait of at most one hour: the number is the client's word.
constexpr std::int64_t waited_ns_max = std::int64_t{3600} * 1'000'000'000;

// The number of entry numbers that the log has given out. Those given out after it was sealed are
// void.
std::uint64_t numbers_of(const Client& client) noexcept {
    const std::uint64_t numbers =
        client.log().header().entries.load(std::memory_order_seq_cst) & ~log_sealed;
    return client.seal() ? std::min(numbers, client.seal()->numbers) : numbers;
}

// One past the last of these numbers that has a place in the ring.
std::uint64_t numbers_end(const Client& client) noexcept {
    return std::clamp(numbers_of(client), client.ingest.looked_at,
                      std::max(client.ingest.looked_at, client.ingest.entries + entries_max));
}

// Changes the entry's state from `seen` to revoked. False: its client has changed the state since.
bool revoke(Entry& entry, std::uint64_t number, std::uint64_t seen) noexcept {
    return entry.state.compare_exchange_strong(seen, stated(number, EntryState::revoked),
                                               std::memory_order_seq_cst);
}

}  // namespace

bool LogIngest::run_once() {
    ++pool_state_.ingest.round;
    DirectoryHeader& header = pool_state_.directory.header;
    const std::uint32_t round = header.round.load(relaxed) + 1;
    // This store precedes the first look at commits: a reader that has read the previous round's
    // number waits for this round.
    header.round.store(round, std::memory_order_seq_cst);
    items_.clear();
    // These counters count only commits before the cutoff.
    for (Client& client : pool_state_.clients.admitted()) {
        if (client.standing() <= Client::Standing::dismissed) {
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
    file_times_ = items_.empty() ? file_times_ : file_times_now(pool_state_.ports);
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
    // A round is complete when it has taken all that was committed before it: readers wait for
    // that.
    bool all = true;
    for (Client& client : pool_state_.clients.admitted()) {
        all = all && (!client.ingest.behind || client.standing() > Client::Standing::dismissed);
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

// Whether the counters in the log's header are plausible.
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

// A thread that leaves a write in the middle (siglongjmp, cancellation) leaves its entry reserved.
// When the ring has come round to that entry, the process would wait for itself for ever. So its
// files leave, and its log is sealed.
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

// The time is cut to what a clock may say: it is subtracted from others.
LogIngest::Item LogIngest::read(const Entry& entry) {
    return {.time_ns = std::max<std::int64_t>(entry.time_ns.load(relaxed), 0),
            .slot = entry.file.load(relaxed),
            .generation = entry.generation.load(relaxed),
            .offset = entry.offset.load(relaxed),
            .position = entry.position.load(relaxed),
            .length = entry.length.load(relaxed),
            .kind = entry.kind.load(relaxed),
            .waited_ns = entry.waited_ns.load(relaxed)};
}

// Looks at one entry, and collects it if it is committed. True: the entry is done with.
bool LogIngest::look_at_entry(Client& client, OpenEntry& open) {
    const bool leaving = client.standing() == Client::Standing::dismissed;
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
        // The entry began after the cutoff, or its client says so. A time in the future says
        // nothing: it is cut to now, and the entry may have been there before the cutoff.
        const std::int64_t now = pool_state_.now_ns();
        open.time_ns = std::min(item.time_ns, now);
        client.ingest.behind =
            client.ingest.behind || item.time_ns > now || open.time_ns <= cutoff_ns_;
        note_reserved(client.number(), item);
        return false;
    }
    item.time_ns = std::min(item.time_ns, cutoff_ns_ - 1);
    items_.push_back(item);
    return true;
}

// Whether to revoke a reserved entry: its client may be suspended, while others wait until the file
// has left or the pool has ended. The write was not acknowledged.
bool LogIngest::takes_too_long(const Client& client, const Item& item) const {
    if (client.seal() && cutoff_ns_ - client.seal()->since_ns > suspended_ns) {
        return true;
    }
    const PooledFile* const file = pool_state_.files.find(item.slot, item.generation);
    return file != nullptr && pool_state_.files.state_of(*file) == FileState::leaving &&
           cutoff_ns_ - file->lifecycle.left_ns > suspended_ns;
}

// Counts a revoked entry, and notes it for the report if the pool closes down.
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

// Revokes all entries of a log that are not committed: those still open, and those that the last
// round has not seen.
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

// A round may give entries places in the ring that the last sweep has not seen, so that sweeps and
// rounds alternate until nothing is left. The sweep comes last.
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

// The entry is not taken yet: a file that leaves has to wait for it, too.
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

// Accounts for the positions of an abandoned entry. False: they are too far ahead to do so now.
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

// Takes one entry. False: there are too few free extents; the entry has to wait.
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

// Takes a deposit. An entry that our own client code never writes is refused, and its client is
// distrusted. An entry for a file that its client does not have open for writing (any more) is only
// dropped: that is the program's mistake. So is one for a file that the daemon cannot write to: a
// client that looks at the file's state has not committed it.
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
                  file->open->storage != nullptr &&
                  pool_state_.files.state_of(*file) != FileState::through;
    }
    if (allowed && pool_state_.extents.room() < extents_kept) {
        return false;
    }
    // Blocks are leased as a whole, so that checking the first byte is enough.
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

// Makes a checked entry the newest bytes of the file.
void LogIngest::record_deposit(PooledFile& file, const Item& item) {
    expects(item.offset >= 0 && item.length > 0, "the entry was checked");
    FileSlot& slot = pool_state_.files.slot_of(file);
    const Extent extent{Offset{item.offset}, Length{item.length}};
    slot.size.store(std::max(slot.size.load(relaxed), extent.end().bytes()),
                    std::memory_order_release);
    // Logs of several clients are taken one after the other: the time does not go back by that.
    const std::int64_t before = slot.modified_ns.load(relaxed);
    slot.modified_ns.store(std::max(file_times_.of_change_at(item.time_ns),
                                    before <= file_times_.calendar_ns ? before : 0),
                           relaxed);
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

// Puts back an entry for which there is no room, with the time that it has been given.
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

// Tells the client how far its log is taken; ends the log of a client that was dismissed.
void LogIngest::publish(Client& client) {
    if (client.standing() == Client::Standing::gone) {
        return;
    }
    if (client.standing() == Client::Standing::dismissed && client.ingest.open.empty()) {
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
