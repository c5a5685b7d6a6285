#include "pool/tasks.hpp"

#include "pool/intake.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace forebay::pool {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::int64_t room_look_ns = 1'000'000'000;

}  // namespace

std::uint64_t Tasks::ask(File* file, const Task& task) {
    const std::uint64_t ticket = next_ticket_++;
    if (file == nullptr) {
        done_.push_back({ticket, ENOENT});
        return ticket;
    }
    if (task.kind == Task::Kind::leave) {
        ledger_.leave(*file, task.reason);
    }
    file->asked.push_back({ticket, task, ledger_.now_ns()});
    ++waiting_;
    ledger_.stir(*file);
    return ticket;
}

std::uint64_t Tasks::drain_all() {
    const std::uint64_t ticket = next_ticket_++;
    const std::int64_t now = ledger_.now_ns();
    for (const auto& [identity, slot] : ledger_.slots) {
        ledger_.files[slot]->asked.push_back({ticket, {}, now});
        ledger_.stir(*ledger_.files[slot]);
    }
    if (ledger_.slots.empty()) {
        done_.push_back({ticket, 0});
        return ticket;
    }
    all_[ticket].left = ledger_.slots.size();
    ++waiting_;
    return ticket;
}

void Tasks::answer(const File& file, std::uint64_t ticket, int error) {
    const auto all = all_.find(ticket);
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
    if (--one.left == 0) {
        --waiting_;
        done_.push_back({ticket, one.error});
        all_.erase(all);
    }
}

std::vector<Done> Tasks::done() { return std::exchange(done_, {}); }

void Tasks::close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation) {
    closes_.push_back({client, slot, generation, ledger_.now_ns()});
}

bool Tasks::apply_closes() {
    const auto due = [&](const Close& close) {
        if (close.at_ns >= ledger_.taken_until_ns) {
            return false;
        }
        File* const file = ledger_.file(close.slot, close.generation);
        if (file != nullptr) {
            close_file(ledger_, close.client, *file);
        }
        return true;
    };
    return std::erase_if(closes_, due) > 0;
}

bool Tasks::round() {
    bool any = apply_closes();
    for (std::size_t i = 0; i < ledger_.busy.size(); ++i) {
        File* const file = ledger_.files[ledger_.busy[i]].get();
        any = look_at(*file) || any;
        any = drop_nameless(*file) || forget(*file) || any;
    }
    std::erase_if(ledger_.busy, [&](std::uint32_t slot) {
        File* const file = ledger_.files[slot].get();
        if (file == nullptr) {
            return true;
        }
        file->busy = file->held_bytes > 0 || file->job || !file->asked.empty() || file->news ||
                     ledger_.state_of(*file) == FileState::leaving;
        return !file->busy;
    });
    return any;
}

bool Tasks::look_at(File& file) {
    bool any = go_through(file);
    look_at_room(file);
    for (std::size_t i = 0; i < file.asked.size();) {
        if (answered(file, file.asked[i])) {
            file.asked.erase(file.asked.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
        } else {
            ++i;
        }
    }
    return any;
}

bool Tasks::answered(File& file, const Asked& asked) {
    if (asked.at_ns >= ledger_.taken_until_ns) {
        return false;
    }
    if (asked.task.kind == Task::Kind::truncate) {
        if (file.job) {
            return false;
        }
        answer(file, asked.ticket, truncate(file, asked.task.bytes));
        return true;
    }
    const bool failed = file.failed_ns > asked.at_ns;
    const bool leaves = asked.task.kind == Task::Kind::leave;
    const bool done =
        leaves ? ledger_.state_of(file) == FileState::through
               : (file.held_bytes == 0 && !file.job) || file.drained_until_ns > asked.at_ns;
    if (!done && !failed) {
        return false;
    }
    if (asked.task.kind == Task::Kind::sync && !failed) {
        if (file.job) {
            return false;  // nothing may be in flight; none is begun meanwhile
        }
        answer(file, asked.ticket, sync(file));
        return true;
    }
    answer(file, asked.ticket, drained_error(file));
    return true;
}

// The sticky error, which the asker is told now; it goes once what failed was drained after all.
int Tasks::drained_error(File& file) {
    FileSlot& slot = ledger_.slot_of(file);
    const int error = slot.error.load(relaxed);
    file.told = file.told || error != 0;
    if (file.healed && file.told) {
        slot.error.store(0, relaxed);
        file.healed = false;
        file.told = false;
        ledger_.tell(file);
    }
    return error;
}

int Tasks::sync(File& file) {
    if (const int error = drained_error(file); error != 0) {
        return error;
    }
    if (!file.open.storage) {
        return 0;
    }
    const auto synced = file.open.storage->sync();
    return synced ? 0 : synced.error().system == 0 ? EIO : synced.error().system;
}

int Tasks::truncate(File& file, Length bytes) {
    const int error = file.open.control->truncate(bytes);
    if (error != 0) {
        return error;
    }
    FileSlot& slot = ledger_.slot_of(file);
    std::vector<Deposit> gone;
    const Offset end{bytes.bytes()};
    const bool cut = ledger_.extents.cut(slot, {end, Offset::none() - end}, gone);
    invariant(cut, "what is cut at its end is not split");
    ledger_.free(file, gone);
    slot.size.store(std::min(slot.size.load(relaxed), bytes.bytes()), std::memory_order_release);
    file.pass.under_way = false;
    ledger_.tell(file);
    return 0;
}

// From leaving to through, once nothing is deposited and nobody is about to.
bool Tasks::go_through(File& file) {
    FileSlot& slot = ledger_.slot_of(file);
    if (slot.state.load(relaxed) != FileState::leaving || file.held_bytes > 0 || file.job ||
        ledger_.round <= file.left_in || file.reserved_in == ledger_.round) {
        return false;
    }
    slot.state.store(FileState::through, std::memory_order_seq_cst);
    ledger_.tell(file);
    return true;
}

// Bytes that the file system has no room for are not promised any more.
void Tasks::look_at_room(File& file) {
    if (ledger_.state_of(file) != FileState::pooled || file.held_bytes == 0) {
        return;
    }
    const std::int64_t now = ledger_.now_ns();
    if (file.room_asked_ns != never_ns && now - file.room_asked_ns < room_look_ns &&
        file.held_bytes <= file.room_bytes / 2) {
        return;
    }
    if (file.room_asked_ns == never_ns || now - file.room_asked_ns >= room_look_ns / 100) {
        file.room_asked_ns = now;
        file.room_bytes = file.open.control->room();
    }
    std::int64_t held = 0;
    for (const std::uint32_t slot : ledger_.busy) {
        const File* const other = ledger_.files[slot].get();
        if (other != nullptr && other->open.identity.device == file.open.identity.device) {
            held += other->held_bytes;
        }
    }
    if (file.room_bytes >= 0 && std::max(held, file.held_bytes) > file.room_bytes) {
        ledger_.leave(file, Reason::no_room);
    }
}

// Nobody will ever read what has neither a name nor anybody who has it open. True: it is gone.
bool Tasks::drop_nameless(File& file) {
    if (!file.clients.empty() || file.held_bytes == 0 || file.job || !file.asked.empty() ||
        file.open.control->has_name()) {
        return false;
    }
    std::vector<Deposit> gone;
    const bool cut =
        ledger_.extents.cut(ledger_.slot_of(file), {Offset{0}, Offset::none() - Offset{0}}, gone);
    invariant(cut, "whole extents are not split");
    ledger_.free(file, gone);
    return forget(file);
}

bool Tasks::forget(File& file) {
    if (!file.clients.empty() || file.held_bytes > 0 || file.job || !file.asked.empty()) {
        return false;
    }
    ledger_.forget(file);
    return true;
}

}  // namespace forebay::pool
