// A task that needs draining is answered by the first whole pass that began after it was asked,
// whether it failed or not: nobody hangs on a file system that is full.
#include "pool/core/requests/tasks.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/change_time.hpp"
#include "pool/core/flush/sync.hpp"
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
    while (!cut_.empty() && pool_state_.journal.is_durable(cut_.front().entered)) {
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

// Where a sync is over when the journal has everything that was there when it was asked for. It has
// nothing of what was written past the pool. Where the file could not be drained, a sync asks for
// that to be tried again, as others do.
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
            asked.entered.reset();
        } else if (!asked.entered && asked.at_ns < pool_state_.ingest.taken_until_ns) {
            asked.entered = pool_state_.journal.so_far();
        }
    }
}

bool FileTasks::asks_for_room(PoolState& pool_state, const PooledFile& file) {
    return std::ranges::any_of(file.requests.waiting, [&](const FileRequest& asked) {
        return asked.task.for_room && asked.at_ns < pool_state.ingest.taken_until_ns &&
               arrival_of(pool_state, file, asked.at_ns) == RoomEstimate::unknown;
    });
}

// Where only draining tells, it is asked for like any other.
void FileTasks::look_at_arrivals(PooledFile& file) {
    for (FileRequest& asked : file.requests.waiting) {
        if (asked.task.for_room && asked.at_ns < pool_state_.ingest.taken_until_ns &&
            arrival_of(pool_state_, file, asked.at_ns) == RoomEstimate::unsure) {
            asked.task.for_room = false;
        }
    }
}

FileTasks::Outlook FileTasks::outlook(PooledFile& file, const FileRequest& asked) {
    if (asked.at_ns >= pool_state_.ingest.taken_until_ns) {
        return Outlook::waits;
    }
    if (asked.entered) {
        return pool_state_.journal.is_proven(*asked.entered) ? Outlook::done : Outlook::waits;
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
    // It left as soon as it was asked to; pooled, it has come back since.
    const bool left = pool_state_.files.state_of(file) != FileState::leaving;
    if (asked.task.kind == FileTask::Kind::leave ? left : drained) {
        return Outlook::done;
    }
    return file.flush.failed_ns > asked.at_ns ? Outlook::failed : Outlook::waits;
}

// Answers a task that needs no background task.
bool FileTasks::answered(PooledFile& file, const FileRequest& asked) {
    const Outlook now = outlook(file, asked);
    const bool background_task =
        asked.task.kind == FileTask::Kind::truncate ||
        (asked.task.kind == FileTask::Kind::sync && !asked.entered && now == Outlook::done);
    if (now == Outlook::waits || background_task) {
        return false;
    }
    if (asked.task.changes) {
        note_own_change(pool_state_, file);
    }
    answer(file, asked.ticket, report_error(file));
    return true;
}

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
        answer(file, asked.ticket, ESTALE);  // it is written through: the client can do it itself
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

// Cuts the deposits beyond the new end, as the file's own bytes were cut, but not later ones:
// somebody may have seen the file at its new size, and have written to it.
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
    // Clients make a file that is through longer where no journal sees it.
    if (pool_state_.files.state_of(file) != FileState::through) {
        pool_state_.journal.cut(file, bytes);
    }
    pool_state_.read_cache.drop_all(file);
    file.stamp.mark_changed_here();
    file.stamp.bytes = bytes.bytes();
    slot.size.store(size, std::memory_order_release);
    if (pool_state_.files.state_of(file) != FileState::through) {
        slot.modified_ns.store(pool_state_.ports.calendar.now_ns(), relaxed);
    }
    pool_state_.files.notify(file);
}

// One for all who wait for it.
bool FileTasks::begin_syncs(PooledFile& file) {
    if (file.flush.batch || file.background_task) {
        return false;
    }
    std::vector<std::uint64_t> tickets;
    std::erase_if(file.requests.waiting, [&](const FileRequest& asked) {
        const bool ready = asked.task.kind == FileTask::Kind::sync && !asked.entered &&
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
        // It is written through: the client has a descriptor of it, and syncs that.
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

// The sticky error; the client that asks learns of it now.
int FileTasks::report_error(PooledFile& file) {
    const int error = pool_state_.files.slot_of(file).error.load(relaxed);
    file.flush.error_reported = file.flush.error_reported || error != 0;
    return error;
}

// It goes when what could not be written was written after all, and a client has learned of it.
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
