// The rules by which records are queued, grouped, settled and let go, and the failure of the
// device.
#include "pool/core/flush/journal.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/state/pool_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace forebay::pool {

namespace {

using journal::RecordKind;

std::size_t intro_bytes(const PooledFile& file) {
    return sizeof(journal::JournalFileFacts) +
           std::min(file.open->place.size(), journal::path_bytes_max);
}

}  // namespace

void Journal::append(PooledFile& file, const Deposit& deposit) {
    if (!asked()) {
        return;
    }
    expects(!deposit.extent.empty(), "a deposit has bytes");
    file.journal.unsynced = true;
    if (!kept()) {
        return;
    }
    pool_state_.clients.at(deposit.client).blocks.pin(deposit.position);
    queue_.push_back({.slot = file.slot, .deposit = deposit});
    ++file.journal.waiting;
    ++entered_;
}

// Queued even if the journal has no other record of the file: later deposits would else be replayed
// over a file whose truncation its disk may have lost.
void Journal::cut(PooledFile& file, Length bytes) {
    if (!kept()) {
        return;
    }
    queue_.push_back({.slot = file.slot, .cuts = true, .deposit = {}, .length = bytes});
    ++file.journal.waiting;
    ++entered_;
    Offset at{bytes.bytes()};
    while (const auto next = pool_state_.extents.next(pool_state_.files.slot_of(file), at)) {
        const Extent behind{at, Offset::none() - at};
        append(file, part_of(*next, behind));
        at = next->extent.end();
    }
}

void Journal::seen(PooledFile& file, const ChangeStamp& stamp) {
    JournalState& now = file.journal;
    if (!kept() || !now.stamp || *now.stamp == stamp) {
        return;
    }
    now.stamp = stamp;
    if (now.number != 0 && room_for_mark(intro_bytes(file))) {
        introduce(file, now.number);
    }
}

// A replay must not take the pool's own change of a file for somebody else's, so the journal
// records beforehand that the pool is changing the file.
bool Journal::may_change(PooledFile& file) {
    JournalState& now = file.journal;
    if (!kept()) {
        return !asked() || outlived();
    }
    now.stamp.reset();
    if (now.number == 0) {
        return true;  // the journal has no record of the file
    }
    if (now.changing == 0) {
        if (!room_for_mark(0)) {
            return false;
        }
        now.changing = writer_->add({.kind = RecordKind::changing, .file = now.number}).at;
        ++changing_;
    }
    return now.changing < writer_->durable() && fresh();
}

bool Journal::fresh() const {
    return pool_state_.ports.calendar.now_ns() - writer_->lived_ns() <= fresh_ns;
}

// The last records of a failed journal cannot be withdrawn. A replay would write them over newer
// bytes, unless the file was changed later than this daemon seems to have lived; so the pool waits
// until then.
bool Journal::outlived() const { return pool_state_.ports.calendar.now_ns() > refused_from_ns_; }

bool Journal::room_for_mark(std::size_t payload) const { return writer_->fits(payload); }

// Whether all of the file is drained, and its st_mtime is set.
bool Journal::whole(const PooledFile& file) const {
    const FileSlot& slot = pool_state_.files.slot_of(file);
    return file.deposits.held_bytes == 0 && slot.modified_ns.load(relaxed) == 0;
}

// A file is synced when all of it is drained and nobody has written to it for quiet_ns, it leaves,
// or no client has it open. A file that is drained in part is synced, too, when the journal is full
// or the file's oldest needed record is not in the last segment. After a failure of the device, a
// drained file is synced for the clients that wait for durability.
bool Journal::wants_sync(const PooledFile& file) const {
    const JournalState& now = file.journal;
    if (!asked() || now.lost || file.flush.batch || file.background_task || !file.open->storage) {
        return false;
    }
    if (!kept()) {
        return now.unsynced && whole(file);
    }
    const bool nothing_waits = now.waiting == 0 || full_;
    const std::uint64_t first = needs_.first_of(now.number);
    const bool all = whole(file) && nothing_waits;
    const bool some = now.waiting == 0 && now.drained >= first;
    const bool said = now.settled_by < writer_->durable();
    if (now.number == 0 || first == 0 || !said || !(all || some)) {
        return false;
    }
    const FileState state = pool_state_.files.slot_of(file).state.load(relaxed);
    const bool quiet = all && pool_state_.now_ns() - file.deposits.written_ns >= quiet_ns;
    return full_ || quiet ||
           (all && (state != FileState::pooled || file.opens.by_client.empty())) ||
           !writer_->segments().in_the_last(first);
}

std::uint64_t Journal::begin_sync(PooledFile& file) {
    JournalState& now = file.journal;
    const bool all = file.deposits.held_bytes == 0;
    now.unsynced = asked() && !all;
    return all ? now.last : std::min(now.drained, now.last);
}

// If only a part of the file is settled, repeats the record that introduces the file, so that the
// earlier records can be let go.
void Journal::synced(PooledFile& file, std::uint64_t through,
                     const std::optional<ChangeStamp>& stamp) {
    JournalState& now = file.journal;
    if (!kept()) {
        return;
    }
    now.stamp = stamp;
    if (now.number == 0 || through < needs_.first_of(now.number)) {
        return;
    }
    if (!writer_->fits(intro_bytes(file) + mark_bytes / 2)) {
        now.stamp.reset();
        return;  // the file is synced again later
    }
    if (stamp) {
        changing_ -= now.changing != 0 ? 1 : 0;
        now.changing = 0;
        invariant(changing_ >= 0, "no more files are done with than were being changed");
    }
    const bool all = through >= now.last;
    if (!all) {
        introduce(file, now.number);
    }
    settle(file, through, stamp);
    now.number = all ? 0 : now.number;
}

void Journal::settle(PooledFile& file, std::uint64_t through,
                     const std::optional<ChangeStamp>& stamp) {
    JournalState& now = file.journal;
    expects(now.number != 0 && through <= now.last, "what is settled was recorded");
    const std::uint32_t length = stamp ? sizeof *stamp : 0;
    const auto mark = writer_->add({.kind = RecordKind::settled,
                                    .length = length,
                                    .file = now.number,
                                    .number = static_cast<std::int64_t>(through)});
    if (stamp) {
        std::memcpy(mark.payload.data(), &*stamp, length);
    }
    needs_.settled(now.number, through, mark.at);
    now.settled_by = mark.at;
}

// Nobody knows whether the bytes are on the disk: the journal keeps them for the next daemon.
void Journal::sync_failed(PooledFile& file) {
    file.journal.unsynced = asked();
    file.journal.lost = asked();
}

void Journal::drop(PooledFile& file) {
    JournalState& now = file.journal;
    now.unsynced = false;
    now.lost = false;
    if (!kept()) {
        return;
    }
    for (Entry& entry : queue_) {
        if (entry.slot == file.slot) {
            if (!entry.cuts) {
                pool_state_.clients.at(entry.deposit.client).blocks.unpin(entry.deposit.position);
            }
            entry.slot = files_max;
        }
    }
    now.waiting = 0;
    if (now.number != 0 && room_for_mark(0)) {
        settle(file, now.last, {});
    } else if (now.number != 0) {
        needs_.settled(now.number, now.last, writer_->next_record());
    }
    changing_ -= now.changing != 0 ? 1 : 0;
    now.changing = 0;
    now.number = 0;
}

bool Journal::nothing_of(const PooledFile& file) const {
    const JournalState& now = file.journal;
    if (!kept()) {
        return !now.unsynced && !now.lost && (!asked() || outlived());
    }
    return now.number == 0 && now.waiting == 0 && now.settled_by < writer_->durable();
}

void Journal::note_commits(Client& client, std::uint64_t commits) {
    if (!asked()) {
        return;
    }
    std::deque<AwaitedCommits>& awaited = client.awaited;
    invariant(awaited.empty() || awaited.back().entered <= entered_,
              "commits wait for what was entered");
    if (!awaited.empty() && awaited.back().entered == entered_) {
        awaited.back().commits = commits;
    } else {
        awaited.push_back({.commits = commits, .entered = entered_});
    }
}

bool Journal::run_once() {
    if (!asked()) {
        return false;
    }
    const bool ended = collect();
    if (!kept()) {
        release();
        return ended;
    }
    publish();
    const bool gathered = gather();
    count_who_waits();
    if (writer_->wants_to_grow()) {
        static_cast<void>(writer_->grow());
    }
    // If all writing clients wait, none of them can make the group larger before the one in flight
    // is durable, so that it is written now. The number of writing clients is estimated: as many as
    // waited at a time lately.
    const bool all_wait = queue_.empty() && waiting_ >= crowd_;
    if (writer_->idle() || (writer_->may_begin() && writer_->filled() && all_wait)) {
        start();
    }
    tend_head();
    return ended || gathered;
}

// Writes the head some time after the last group, so that it delays no write; and at intervals if
// groups follow one another.
void Journal::tend_head() {
    const std::int64_t now = pool_state_.now_ns();
    const bool old = now - head_ns_ >= head_age_ns;
    const bool quiet = kept() && writer_->idle() && now - group_ns_ >= head_quiet_ns;
    if (kept()) {
        writer_->tend_head(quiet || old || std::exchange(head_wanted_, false));
    }
    head_ns_ = quiet || old ? now : head_ns_;
}

void Journal::note_unproven() {
    if (unproven_.size() == unproven_max) {
        unproven_.pop_back();
    }
    unproven_.push_back({writer_->durable_group(), durable_});
}

// Takes the device's completions: segments made, groups and heads written.
bool Journal::collect() {
    const auto grown = writer_->grown();
    int error = grown.value_or(0);
    bool any = grown.has_value();
    while (const auto ended = writer_->ended()) {
        any = true;
        error = error == 0 ? *ended : error;
        invariant(!written_.empty(), "a group that has ended was begun");
        if (error == 0 && kept()) {
            durable_ = std::max(durable_, written_.front());
            invariant(durable_ <= grouped_, "what is durable was in a group");
            note_unproven();
            needs_.durable(writer_->durable() - 1);
            writer_->segments().need(needs_.first(writer_->next_record()));
            crowd_ = std::max(crowd_ - 1, std::int64_t{0});
            group_ns_ = pool_state_.now_ns();
        }
        written_.pop_front();
    }
    while (!unproven_.empty() && unproven_.front().group <= writer_->proven_group()) {
        proven_ = unproven_.front().entered;
        invariant(proven_ <= entered_, "what is proven was entered");
        unproven_.pop_front();
        any = true;
    }
    error = error == 0 ? writer_->head_error() : error;
    if (error != 0 && kept()) {
        fail(error);
    }
    return any;
}

// Begins to write a group: records, a notice that lets segments go, or an empty group as a sign of
// life.
void Journal::start() {
    const std::int64_t silent = pool_state_.ports.calendar.now_ns() - writer_->lived_ns();
    const bool lets_go = full_ && writer_->segments().lets_go();
    const bool moves_on = full_ && !lets_go && writer_->may_move_on();
    if (full_ && !lets_go && !moves_on && !writer_->filled() && stuck()) {
        fail(ENOSPC);
        return;
    }
    if (moves_on) {
        writer_->move_on();
    }
    if (!writer_->filled() && !lets_go && !moves_on &&
        (changing_ == 0 || silent < sign_of_life_ns)) {
        return;
    }
    if (writer_->begin()) {
        written_.push_back(grouped_);
    } else if (writer_->idle() && !writer_->growing() && !writer_->grow()) {
        fail(ENOSPC);  // not even the journal's reserve is left
    }
}

void Journal::count_who_waits() {
    waiting_ = std::ranges::count_if(pool_state_.clients.admitted(),
                                     [](const Client& client) { return !client.awaited.empty(); });
    crowd_ = std::max(crowd_, waiting_);
}

// Whether the journal only holds records of files that cannot be drained or synced.
bool Journal::stuck() const {
    return !pool_state_.files.any_busy([&](const PooledFile& file) {
        return file.journal.number != 0 && pool_state_.files.slot_of(file).error.load(relaxed) == 0;
    });
}

// Moves as many entries as there is room for, in order: later deposits must not come before earlier
// ones.
bool Journal::gather() {
    bool any = false;
    full_ = false;
    while (!queue_.empty()) {
        if (!enter(queue_.front())) {
            break;
        }
        queue_.pop_front();
        ++grouped_;
        any = true;
    }
    ensures(grouped_ <= entered_, "what is in a group was entered");
    return any;
}

// Adds the entry's record to the group that is being filled. False: there is no room for it now.
bool Journal::enter(const Entry& entry) {
    if (entry.slot == files_max) {
        return true;
    }
    PooledFile& file = pool_state_.files.at(entry.slot);
    const std::size_t payload = entry.cuts ? 0 : entry.deposit.extent.length.size();
    const std::size_t all = payload + intro_bytes(file) + mark_bytes;
    if (!writer_->fits(all)) {
        return false;
    }
    if (!writer_->has_room(all)) {
        const bool grows =
            writer_->growing() || (!writer_->segments().lets_go() && writer_->grow());
        full_ = !grows;
        return false;
    }
    JournalState& now = file.journal;
    if (now.number == 0) {
        introduce(file, 0);
    }
    journal::RecordHeader header{.kind = entry.cuts ? RecordKind::cut : RecordKind::deposit,
                                 .length = static_cast<std::uint32_t>(payload),
                                 .file = now.number,
                                 .number = entry.length.bytes()};
    if (!entry.cuts) {
        header.number = entry.deposit.extent.begin.bytes();
    }
    const JournalWriter::Added added = writer_->add(header);
    if (!entry.cuts) {
        std::memcpy(added.payload.data(), pool_state_.memory_of(entry.deposit), payload);
        pool_state_.clients.at(entry.deposit.client).blocks.unpin(entry.deposit.position);
    }
    needs_.recorded(now.number, added.at);
    now.last = added.at;
    invariant(now.waiting > 0, "what has no record waits for one");
    --now.waiting;
    pool_state_.files.mark_busy(file);
    return true;
}

// `number`: the file's number in the journal, which is kept; 0: it gets a new one.
void Journal::introduce(PooledFile& file, std::uint64_t number) {
    JournalState& now = file.journal;
    const DaemonFile& open = *file.open;
    const std::span<const char> path =
        std::span{open.place}.first(std::min(open.place.size(), journal::path_bytes_max));
    journal::JournalFileFacts facts{.device = open.identity.device,
                                    .inode = open.identity.inode,
                                    .generation = open.generation,
                                    .stamped = now.stamp ? 1U : 0U,
                                    .stamp = now.stamp.value_or(ChangeStamp{})};
    const JournalWriter::Added added =
        writer_->add({.kind = RecordKind::file,
                      .length = static_cast<std::uint32_t>(sizeof facts + path.size()),
                      .file = number});
    std::memcpy(added.payload.data(), &facts, sizeof facts);
    std::memcpy(added.payload.data() + sizeof facts, path.data(), path.size());
    if (number == 0) {
        now.number = added.at;
        now.drained = 0;
    }
    if (!now.stamp && now.changing == 0) {
        now.changing = added.at;
        ++changing_;
    }
}

void Journal::publish() {
    for (Client& client : pool_state_.clients.admitted()) {
        std::uint64_t commits = 0;
        while (!client.awaited.empty() && client.awaited.front().entered <= durable_) {
            commits = client.awaited.front().commits;
            client.awaited.pop_front();
        }
        if (commits != 0) {
            pool_state_.clients.slot_of(client).durable.store(commits, std::memory_order_release);
            client.notify_synced();
        }
    }
}

// Every file leaves the pool. Deposits that are not in the journal become durable with the files.
void Journal::fail(int error) {
    error_ = error;
    full_ = false;
    pool_state_.directory.header.durability.store(WriteDurability::files,
                                                  std::memory_order_release);
    refused_from_ns_ = pool_state_.ports.calendar.now_ns() + journal::slack_ns;
    for (const Entry& entry : queue_) {
        if (entry.slot == files_max) {
            continue;
        }
        pool_state_.files.at(entry.slot).journal.waiting = 0;
        if (!entry.cuts) {
            pool_state_.clients.at(entry.deposit.client).blocks.unpin(entry.deposit.position);
        }
    }
    queue_.clear();
    for (PooledFile& file : pool_state_.files.known()) {
        pool_state_.files.leave(file, ThroughReason::no_journal);
        pool_state_.files.mark_busy(file);
    }
}

void Journal::release() {
    const bool all = std::ranges::all_of(pool_state_.files.known(), [&](const PooledFile& file) {
        const bool wrong = pool_state_.files.slot_of(file).error.load(relaxed) != 0;
        return wrong || (!file.journal.unsynced && file.deposits.held_bytes == 0 &&
                         !file.flush.batch && !file.background_task);
    });
    if (all) {
        durable_ = entered_;
        publish();
    }
}

bool Journal::finish() {
    if (!asked()) {
        return true;
    }
    while (!writer_->idle()) {
        if (writer_->wait() != 0) {
            error_ = error_ == 0 ? EIO : error_;
        }
    }
    // If the device has failed, the journal's last records may be older than what is in the files
    // since.
    const bool nothing =
        std::ranges::all_of(pool_state_.files.known(), [&](const PooledFile& file) {
            const JournalState& one = file.journal;
            return kept() ? one.number == 0 && one.waiting == 0
                          : !one.unsynced && !one.lost && file.deposits.held_bytes == 0;
        });
    ensures(writer_->idle(), "no group is under way at the end");
    return writer_->finish(nothing) && nothing;
}

}  // namespace forebay::pool
