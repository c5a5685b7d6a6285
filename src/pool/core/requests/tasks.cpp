// Decides when a request is answered. A request that needs draining is answered by the first whole
// pass over the file that began after the request, whether that pass failed or not: no client hangs
// because a file system is full.
#include "pool/core/requests/tasks.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/change_time.hpp"
#include "pool/core/flush/sync.hpp"
#include "pool/core/ingest/file_time.hpp"
#include "pool/core/lifecycle/file_opens.hpp"
#include "pool/core/state/room.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::pool {

std::uint64_t FileTasks::ask(PooledFile* file, const FileTask& task) {
    const std::uint64_t ticket = next_ticket_++;
    if (file == nullptr) {
        done_.push_back({ticket, ENOENT});
        return ticket;
    }
    if (task.kind == FileTask::Kind::leave) {
        pool_state_.files.leave(*file, task.reason);
    }
    file->requests.waiting.push_back({ticket, task, pool_state_.now_ns()});
    ++waiting_;
    pool_state_.files.mark_busy(*file);
    return ticket;
}

std::uint64_t FileTasks::drain_all() {
    const std::uint64_t ticket = next_ticket_++;
    const std::int64_t now = pool_state_.now_ns();
    for (PooledFile& file : pool_state_.files.known()) {
        file.requests.waiting.push_back({ticket, {}, now});
        pool_state_.files.mark_busy(file);
    }
    if (pool_state_.files.count() == 0) {
        done_.push_back({ticket, 0});
        return ticket;
    }
    all_[ticket].left = pool_state_.files.count();
    ++waiting_;
    return ticket;
}

void FileTasks::answer(const PooledFile& file, std::uint64_t ticket, int error) {
    const auto all = all_.find(ticket);
    invariant(waiting_ > 0, "who is answered was waiting");
    if (all == all_.end()) {
        --waiting_;
        done_.push_back({ticket, error});
        return;
    }
    All& one = all->second;
    if (error != 0 && file.slot < one.first_slot) {
        one.first_slot = file.slot;
        one.error = error;
    }
    invariant(one.left > 0, "a file answers once");
    if (--one.left == 0) {
        --waiting_;
        done_.push_back({ticket, one.error});
        all_.erase(all);
    }
}

std::vector<TaskCompletion> FileTasks::done() {
    while (!cut_.empty() && pool_state_.journal.is_durable(cut_.front().journal_entries)) {
        invariant(waiting_ > 0, "who is answered was waiting");
        --waiting_;
        done_.push_back({cut_.front().ticket, 0});
        cut_.pop_front();
    }
    return std::exchange(done_, {});
}

void FileTasks::close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation) {
    closes_.push_back({client, slot, generation, pool_state_.now_ns()});
}

bool FileTasks::apply_closes() {
    const auto due = [&](const Close& close) {
        if (close.at_ns >= pool_state_.ingest.taken_until_ns) {
            return false;
        }
        PooledFile* const file = pool_state_.files.find(close.slot, close.generation);
        if (file != nullptr) {
            close_file(pool_state_, close.client, *file);
        }
        return true;
    };
    return std::erase_if(closes_, due) > 0;
}

bool FileTasks::look_at(PooledFile& file) {
    clear_error(file);
    look_at_journal(file);
    look_at_arrivals(file);
    bool any = begin_truncation(file) || begin_syncs(file);
    std::erase_if(file.requests.waiting, [&](const FileRequest& asked) {
        const bool over = answered(file, asked);
        any = any || over;
        return over;
    });
    clear_error(file);
    return any;
}

// With sync_to_journal a sync is complete when the journal has everything that had been written
// when it was asked for. The journal has nothing of what was written past the pool. If the file
// could not be drained, the file itself is synced, which tries draining again.
void FileTasks::look_at_journal(PooledFile& file) {
    const bool by_journal =
        file.open->rule.sync_to_journal.value_or(pool_state_.options.sync_to_journal);
    const bool enough = pool_state_.journal.kept() && !file.journal.past_the_pool &&
                        pool_state_.files.slot_of(file).error.load(relaxed) == 0;
    for (FileRequest& asked : file.requests.waiting) {
        if (asked.task.kind != FileTask::Kind::sync || !by_journal) {
            continue;
        }
        if (!enough) {
            asked.journal_entries.reset();
        } else if (!asked.journal_entries && asked.at_ns < pool_state_.ingest.taken_until_ns) {
            asked.journal_entries = pool_state_.journal.so_far();
        }
    }
}

bool FileTasks::asks_for_room(PoolState& pool_state, const PooledFile& file) {
    return std::ranges::any_of(file.requests.waiting, [&](const FileRequest& asked) {
        return asked.task.for_room && asked.at_ns < pool_state.ingest.taken_until_ns &&
               arrival_of(pool_state, file, asked.at_ns) == RoomEstimate::must_look;
    });
}

// If only draining can tell whether there is space, the request becomes an ordinary request to
// drain.
void FileTasks::look_at_arrivals(PooledFile& file) {
    for (FileRequest& asked : file.requests.waiting) {
        if (asked.task.for_room && asked.at_ns < pool_state_.ingest.taken_until_ns &&
            arrival_of(pool_state_, file, asked.at_ns) == RoomEstimate::must_drain) {
            asked.task.for_room = false;
        }
    }
}

// Whether a request can be answered now: not before everything that was committed before it is
// taken.
FileTasks::Outlook FileTasks::outlook(PooledFile& file, const FileRequest& asked) {
    if (asked.at_ns >= pool_state_.ingest.taken_until_ns) {
        return Outlook::waits;
    }
    if (asked.journal_entries) {
        return pool_state_.journal.is_proven(*asked.journal_entries) ? Outlook::done
                                                                     : Outlook::waits;
    }
    if (asked.task.kind == FileTask::Kind::truncate) {
        return file.flush.batch || file.background_task ? Outlook::waits : Outlook::done;
    }
    if (asked.task.for_room) {
        return arrival_of(pool_state_, file, asked.at_ns) == RoomEstimate::has_room
                   ? Outlook::done
                   : Outlook::waits;
    }
    const bool stamped = pool_state_.files.slot_of(file).modified_ns.load(relaxed) == 0;
    const bool drained =
        (file.deposits.held_bytes == 0 && !file.flush.batch && stamped) ||
        (file.deposits.held_bytes > 0 && file.flush.drained_until_ns > asked.at_ns);
    // ask() has made the file leave; if it is pooled now, it has left and come back since.
    const bool left = pool_state_.files.state_of(file) != FileState::leaving;
    if (asked.task.kind == FileTask::Kind::leave ? left : drained) {
        return Outlook::done;
    }
    return file.flush.failed_ns > asked.at_ns ? Outlook::failed : Outlook::waits;
}

// Answers a request that needs no background task. Returns true if it did.
bool FileTasks::answered(PooledFile& file, const FileRequest& asked) {
    const Outlook now = outlook(file, asked);
    const bool background_task =
        asked.task.kind == FileTask::Kind::truncate ||
        (asked.task.kind == FileTask::Kind::sync && !asked.journal_entries && now == Outlook::done);
    if (now == Outlook::waits || background_task) {
        return false;
    }
    if (asked.task.changes) {
        note_own_change(pool_state_, file);
    }
    answer(file, asked.ticket, report_error(file));
    return true;
}

// Begins the oldest truncation of the file. Returns true if it was begun or answered.
bool FileTasks::begin_truncation(PooledFile& file) {
    const auto first = std::ranges::find_if(file.requests.waiting, [](const FileRequest& one) {
        return one.task.kind == FileTask::Kind::truncate;
    });
    if (first == file.requests.waiting.end() || outlook(file, *first) == Outlook::waits ||
        !pool_state_.journal.may_change(file)) {
        return false;
    }
    const FileRequest asked = *first;
    file.requests.waiting.erase(first);
    if (!file.open->control) {
        // The file is through: the client truncates it by its own descriptor.
        answer(file, asked.ticket, ESTALE);
        return true;
    }
    expects(!file.requests.truncates, "one truncation of a file is under way at a time");
    file.requests.truncates = true;
    pool_state_.begin_background_task(
        file, BackgroundTask::Company::alone,
        [open = file.open, bytes = asked.task.bytes] {
            return std::int64_t{open->control->truncate(bytes)};
        },
        [this, &file, asked](std::int64_t error) {
            invariant(file.requests.truncates, "a truncation that ends was under way");
            file.requests.truncates = false;
            const std::vector<Extent> kept = std::exchange(file.requests.deposited_since, {});
            if (error == 0) {
                truncated(file, asked.task.bytes, kept);
                cut_.push_back({asked.ticket, pool_state_.journal.so_far()});
            } else {
                answer(file, asked.ticket, static_cast<int>(error));
            }
        });
    return true;
}

// Removes the deposits beyond the new end, as the file system has removed the file's own bytes. But
// deposits that were taken since the truncation began (`kept`) stay: their writer may have seen the
// file at its new size.
void FileTasks::truncated(PooledFile& file, Length bytes, std::vector<Extent> kept) {
    FileSlot& slot = pool_state_.files.slot_of(file);
    std::int64_t size = std::min(slot.size.load(relaxed), bytes.bytes());
    std::vector<Deposit> gone;
    Offset at{bytes.bytes()};
    kept.push_back({Offset::none(), Length{0}});
    std::ranges::sort(kept, {}, &Extent::begin);
    for (const Extent& one : kept) {
        if (one.begin > at) {
            const bool cut = pool_state_.extents.cut(slot, {at, one.begin - at}, gone);
            invariant(cut, "there is room to split an extent");
        }
        at = std::max(at, one.end());
        size = std::max(size, one.empty() ? 0 : one.end().bytes());
    }
    pool_state_.free(file, gone);
    // A file that is through is written by its clients, where the journal does not see it.
    if (pool_state_.files.state_of(file) != FileState::through) {
        pool_state_.journal.cut(file, bytes);
    }
    pool_state_.read_cache.drop_all(file);
    file.stamp.mark_changed_here();
    file.stamp.bytes = bytes.bytes();
    slot.size.store(size, std::memory_order_release);
    if (pool_state_.files.state_of(file) != FileState::through) {
        slot.modified_ns.store(file_times_now(pool_state_.ports).now(), relaxed);
    }
    pool_state_.files.notify(file);
}

// One fsync answers all requests that wait for one.
bool FileTasks::begin_syncs(PooledFile& file) {
    if (file.flush.batch || file.background_task) {
        return false;
    }
    std::vector<std::uint64_t> tickets;
    std::erase_if(file.requests.waiting, [&](const FileRequest& asked) {
        const bool ready = asked.task.kind == FileTask::Kind::sync && !asked.journal_entries &&
                           outlook(file, asked) == Outlook::done;
        if (ready) {
            tickets.push_back(asked.ticket);
        }
        return ready;
    });
    if (tickets.empty()) {
        return false;
    }
    if (!file.open->control) {
        // The file is through: the client has a descriptor of it, and syncs that.
        for (const std::uint64_t ticket : tickets) {
            answer(file, ticket, report_error(file));
        }
        return true;
    }
    begin_sync(pool_state_, file, [this, &file, tickets](int error) {
        for (const std::uint64_t ticket : tickets) {
            const int sticky = report_error(file);
            answer(file, ticket, sticky != 0 ? sticky : error);
        }
    });
    return true;
}

// Returns the sticky error of the file, and notes that a client is told of it.
int FileTasks::report_error(PooledFile& file) {
    const int error = pool_state_.files.slot_of(file).error.load(relaxed);
    file.flush.error_reported = file.flush.error_reported || error != 0;
    return error;
}

// Clears the sticky error once the bytes that could not be written have been written after all, and
// report_error() has told a client.
void FileTasks::clear_error(PooledFile& file) {
    FileSlot& slot = pool_state_.files.slot_of(file);
    file.flush.error_healed =
        file.flush.error_healed || (file.deposits.held_bytes == 0 && !file.flush.batch);
    if (slot.error.load(relaxed) != 0 && file.flush.error_healed && file.flush.error_reported) {
        slot.error.store(0, relaxed);
        file.flush.error_reported = false;
        pool_state_.files.notify(file);
    }
}

}  // namespace forebay::pool
