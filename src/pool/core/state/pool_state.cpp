// Numbers of clients and slots of files go round, so that one that is free is not given again at
// once: a process that waits for a client that has gone does not take the next one for it.
#include "pool/core/state/pool_state.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/core/flush/change_time.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::pool {

namespace {

// Times of a file go on in steps; those of another machine may be another day's.
constexpr std::int64_t fresh_ns = 100'000'000;

std::pair<std::uint64_t, std::uint64_t> key_of(const ports::Identity& identity) noexcept {
    return {identity.device, identity.inode};
}

std::atomic<std::uint64_t>& word_of(Directory& directory, std::uint32_t slot) noexcept {
    return directory.files_known[slot / 64];
}

std::uint64_t bit_of(std::uint32_t slot) noexcept { return std::uint64_t{1} << slot % 64; }

// Requests as the chosen way of caching makes them.
PoolOptions settled(PoolOptions options) noexcept {
    if (options.consistency == Consistency::paper) {
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
      files(files_max),
      clean{{shared, node, files}, clean_blocks(wanted)} {
    if (ports.background_io == nullptr) {
        ports.background_io = &at_once_;
    }
    directory.header.cap.store(options.cap_bytes, relaxed);
    directory.header.consistency.store(options.consistency, relaxed);
    directory.header.durability.store(journal.asked() ? Durability::node : Durability::process,
                                      relaxed);
    directory.header.format.store(format, std::memory_order_release);
}

std::byte* PoolState::memory_of(const Deposit& deposit) const noexcept {
    const std::uint64_t number = deposit.position / block_bytes % blocks_max;
    const std::uint32_t block = block_of(directory.leases[deposit.client][number].load(relaxed));
    return clients[deposit.client]->log.block(block) + deposit.position % block_bytes;
}

Client* PoolState::client(std::uint32_t number) noexcept {
    return number < clients_max ? clients[number].get() : nullptr;
}

const Client* PoolState::client(std::uint32_t number) const noexcept {
    return number < clients_max ? clients[number].get() : nullptr;
}

File* PoolState::file(std::uint32_t slot, std::uint32_t generation) noexcept {
    if (slot >= files_max || !files[slot] ||
        directory.files[slot].generation.load(relaxed) != generation) {
        return nullptr;
    }
    return files[slot].get();
}

FileSlot& PoolState::slot_of(const File& file) noexcept { return directory.files[file.slot]; }

FileState PoolState::state_of(const File& file) noexcept {
    return slot_of(file).state.load(relaxed);
}

std::optional<std::uint32_t> PoolState::admit(std::uint64_t process, Log log) {
    for (std::size_t tried = 0; tried < clients_max; ++tried) {
        const std::uint32_t number = next_client_;
        next_client_ = (next_client_ + 1) % clients_max;
        if (clients[number]) {
            continue;
        }
        clients[number] = std::make_unique<Client>();
        clients[number]->process = process;
        clients[number]->log = log;
        ClientSlot& slot = directory.clients[number];
        slot.commits.store(0, relaxed);
        slot.entries.store(0, relaxed);
        slot.credit.store(0, relaxed);
        slot.durable.store(0, relaxed);
        slot.admission.store(++admissions_, relaxed);
        slot.log.fetch_add(1, std::memory_order_release);
        slot.used.store(process, std::memory_order_release);
        admitted.push_back(number);
        if (closing) {
            seal(number);
        }
        return number;
    }
    return std::nullopt;
}

// Before the last look at its log: a client that commits looks in the other order, so that one of
// the two sees the other.
void PoolState::stop_listening(std::uint32_t number) {
    directory.clients[number].admission.store(0, std::memory_order_seq_cst);
    clients[number]->news = true;
    clients[number]->synced = true;
}

void PoolState::seal(std::uint32_t number) {
    Client& client = *clients[number];
    if (!client.sealed_ns) {
        client.sealed_numbers =
            client.log.header().entries.fetch_or(log_sealed, std::memory_order_seq_cst) &
            ~log_sealed;
        client.sealed_ns = now_ns();
        client.news = true;  // a thread that waits for its turn in the log need not
    }
}

void PoolState::distrust(std::uint32_t number) {
    if (clients[number]->standing == Client::Standing::here) {
        clients[number]->standing = Client::Standing::distrusted;
        ++counts.distrusted;
        stop_listening(number);
    }
}

Result<File*> PoolState::make_known(OpenFile& open) {
    if (excludes()) {
        open.stripes = {};
    }
    const auto known = slots.find(key_of(open.identity));
    if (known != slots.end()) {
        File& file = *files[known->second];
        const Stamp stamp = open.stamp;
        auto other = std::make_shared<OpenFile>(std::move(open));
        if (!file.open->storage && other->storage) {
            // As a whole: what was opened to be read cannot be truncated either, and background I/O
            // that are under way keep what they have.
            std::swap(file.open, other);
        }
        close_beside(std::move(other), {}, slot_of(file).drained.load(relaxed));
        journal.seen(file, stamp);
        look_at_stamp(file, stamp);
        return &file;
    }
    if (slots.size() == files_max) {
        return failure({ErrorCode::input_output, ENFILE,
                        "cannot pool one more file (there are " + std::to_string(files_max) +
                            " already). It is written directly."});
    }
    while (files[next_slot_]) {
        next_slot_ = (next_slot_ + 1) % files_max;
    }
    files[next_slot_] = std::make_unique<File>();
    File& file = *files[next_slot_];
    file.slot = next_slot_;
    file.open = std::make_shared<OpenFile>(std::move(open));
    next_slot_ = (next_slot_ + 1) % files_max;
    slots[key_of(file.open->identity)] = file.slot;
    look_at_stamp(file, file.open->stamp);
    file.journal.stamp = file.open->stamp;

    FileSlot& slot = slot_of(file);
    slot.reason.store(Reason::none, relaxed);
    slot.error.store(0, relaxed);
    slot.device.store(file.open->identity.device, relaxed);
    slot.inode.store(file.open->identity.inode, relaxed);
    slot.size.store(0, relaxed);
    slot.modified_ns.store(0, relaxed);
    recall_change_time(directory, slot);
    slot.window.store(std::min(file.open->rule.window_bytes.value_or(options.window_bytes),
                               options.cap_bytes / 2),
                      relaxed);
    slot.taken.store(0, relaxed);
    slot.drained.store(0, relaxed);
    slot.waited_ns.store(0, relaxed);
    slot.high.store(0, relaxed);
    slot.room.store(RoomLeft::ample, relaxed);
    for (auto& some : slot.writers) {
        some.store(0, relaxed);
    }
    slot.clean.store(0, relaxed);
    slot.fetch_us.store(0, relaxed);
    slot.path.fill('\0');
    std::copy_n(file.open->path.begin(), std::min(file.open->path.size(), slot.path.size() - 1),
                slot.path.begin());
    slot.state.store(FileState::pooled, std::memory_order_release);
    word_of(directory, file.slot).fetch_or(bit_of(file.slot), std::memory_order_release);
    if (ports.inodes != nullptr) {
        ports.inodes->add(file.open->identity.device, file.open->identity.inode);
    }
    if (closing) {
        leave(file, closes_for);
    } else if (journal.error() != 0) {
        leave(file, Reason::no_journal);
    }
    return &file;
}

// A program that does not go through the pool may have changed the file since it was last opened.
void PoolState::look_at_stamp(File& file, const Stamp& stamp) {
    if (file.stamp.changed_here || file.stamp.fresh || stamp != *file.stamp.seen) {
        clean.drop_all(file);
    }
    if (!file.stamp.changed_here && stamp != *file.stamp.seen && stamp.bytes > 0) {
        file.journal.past_the_pool = true;
    }
    *file.stamp.seen = stamp;
    file.stamp.bytes = stamp.bytes;
    file.stamp.changed_here = file.flush.batch != nullptr || file.background_task.has_value();
    const std::int64_t changed = std::max(stamp.changed_ns, stamp.modified_ns);
    file.stamp.fresh = ports.calendar.now_ns() - changed < fresh_ns;
}

void PoolState::forget(File& file) {
    expects(!file.prefetch.listed, "what is being read has ended");
    clean.drop_all(file);
    FileSlot& slot = slot_of(file);
    remember_change_time(directory, slot);
    word_of(directory, file.slot).fetch_and(~bit_of(file.slot), std::memory_order_release);
    if (ports.inodes != nullptr) {
        ports.inodes->remove(file.open->identity.device, file.open->identity.inode);
    }
    slot.state.store(FileState::free, relaxed);
    slot.generation.fetch_add(1, std::memory_order_seq_cst);
    slot.progress.fetch_add(1, std::memory_order_release);
    ports.sleepers.wake(slot.progress);
    slots.erase(key_of(file.open->identity));
    if (options.shared) {
        forgotten.push_back(file.slot);
    }
    close_beside(std::move(file.open), std::move(file.prefetch.source), slot.drained.load(relaxed));
    files[file.slot].reset();
}

// Closing may take as long as anything else that a file system does.
void PoolState::close_beside(std::shared_ptr<const OpenFile> open,
                             std::unique_ptr<ports::Storage> source, std::int64_t bytes) {
    const std::uint64_t ticket = next_background_task_++;
    closes_[ticket] = {open->identity, {.path = open->path, .bytes = bytes}};
    // Shared, since a function must be copied.
    std::shared_ptr<ports::Storage> read = std::move(source);
    const bool local = open->local;
    std::function<std::int64_t()> close = [open = std::move(open), read = std::move(read)] {
        // Some file systems report an error once, to the first close.
        const auto closed = open->storage ? open->storage->close() : Result<void>{};
        const auto also = read ? read->close() : Result<void>{};
        const Result<void>& told = closed ? also : closed;
        const int error = told ? 0 : told.error().system;
        return std::int64_t{told || error != 0 ? error : EIO};
    };
    if (local) {
        ports.background_io->begin_later(ticket, std::move(close));
    } else {
        ports.background_io->begin(ticket, std::move(close));
    }
}

bool PoolState::lets_go(const ports::Identity& identity) const {
    const auto found = slots.find(key_of(identity));
    if (found != slots.end()) {
        const File& file = *files[found->second];
        const bool failed =
            directory.files[file.slot].error.load(relaxed) != 0 || file.journal.lost;
        return file.opens.by_client.empty() && !failed;
    }
    const bool closes = std::ranges::any_of(
        closes_, [&](const auto& one) { return one.second.identity == identity; });
    if (closes) {
        ports.background_io->hurry();
    }
    return closes;
}

bool PoolState::closing_on(std::uint64_t device) const noexcept {
    return std::ranges::any_of(
        closes_, [&](const auto& one) { return one.second.identity.device == device; });
}

// Another descriptor would keep the blocks of a file that its programs have unlinked and closed.
void PoolState::let_descriptors_go(File& file) {
    auto without = std::make_shared<OpenFile>();
    without->identity = file.open->identity;
    without->stripes = file.open->stripes;
    without->path = file.open->path;
    without->stamp = file.open->stamp;
    without->place = file.open->place;
    without->generation = file.open->generation;
    without->local = file.open->local;
    without->rule = file.open->rule;
    file.flush.gate.reset();
    std::swap(file.open, without);
    close_beside(std::move(without), std::move(file.prefetch.source),
                 slot_of(file).drained.load(relaxed));
}

void PoolState::free(File& file, const std::vector<Deposit>& deposits) {
    std::int64_t bytes = 0;
    for (const Deposit& deposit : deposits) {
        clients[deposit.client]->blocks.free(deposit.position, deposit.extent.length.size());
        bytes += deposit.extent.length.bytes();
    }
    if (bytes > 0) {
        file.deposits.held_bytes -= bytes;
        slot_of(file).drained.fetch_add(bytes, relaxed);
        notify(file);
    }
}

void PoolState::leave(File& file, Reason reason) {
    FileSlot& slot = slot_of(file);
    if (slot.state.load(relaxed) != FileState::pooled) {
        // A reason that can be undone hides neither one that cannot, nor a switch by the program.
        if (can_be_undone(slot.reason.load(relaxed)) && reason != Reason::uncaptured) {
            slot.reason.store(reason, relaxed);
        }
        return;
    }
    slot.reason.store(reason, relaxed);
    // Before any look at entries that counts; a client looks in the other order.
    slot.state.store(FileState::leaving, std::memory_order_seq_cst);
    file.lifecycle.left_in_round = round;
    file.lifecycle.left_ns = now_ns();
    file.journal.past_the_pool = true;
    clean.drop_all(file);
    mark_busy(file);
    notify(file);
}

bool PoolState::come_back(File& file, Reason from) {
    FileSlot& slot = slot_of(file);
    if (slot.state.load(relaxed) == FileState::pooled) {
        return true;
    }
    if (slot.state.load(relaxed) != FileState::through || closing ||
        slot.reason.load(relaxed) != from) {
        return false;
    }
    // Nothing is known of what an uncaptured program did: not even how long the file is.
    file.stamp.changed_here = file.stamp.changed_here || from == Reason::uncaptured;
    slot.reason.store(Reason::none, relaxed);
    slot.state.store(FileState::pooled, std::memory_order_seq_cst);
    notify(file);
    return true;
}

void PoolState::begin_background_task(File& file, BackgroundTask::Company company,
                                      std::function<std::int64_t()> call,
                                      std::function<void(std::int64_t)> then) {
    expects(!file.background_task, "a file has one background task at a time");
    file.background_task = BackgroundTask{next_background_task_++, company, std::move(then)};
    background_io_[file.background_task->ticket] = file.slot;
    mark_busy(file);
    ports.background_io->begin(file.background_task->ticket, std::move(call));
}

bool PoolState::end_background_tasks() {
    bool any = false;
    for (const ports::BackgroundIo::Ended& ended : ports.background_io->ended()) {
        any = true;
        if (auto closed = closes_.extract(ended.ticket)) {
            FailedClose& close = closed.mapped().close;
            close.error = static_cast<int>(ended.answer);
            if (close.error != 0 && close.bytes > 0) {
                failed_closes.push_back(std::move(close));
            }
            continue;
        }
        const auto known = background_io_.find(ended.ticket);
        File& file = *files[known->second];
        background_io_.erase(known);
        const BackgroundTask background_task = *std::exchange(file.background_task, {});
        background_task.then(ended.answer);
        mark_busy(file);
    }
    return any;
}

void PoolState::mark_busy(File& file) {
    if (!file.busy) {
        file.busy = true;
        busy.push_back(file.slot);
    }
}

void PoolState::notify(File& file) {
    file.notifies = true;
    mark_busy(file);
}

void PoolState::wake(Word& word) {
    word.fetch_add(1, std::memory_order_release);
    ports.sleepers.wake(word);
}

// Two words: a client that waits for the journal would else wake when its commits are taken, too.
void PoolState::wake_all() {
    for (const std::uint32_t number : admitted) {
        Client& one = *clients[number];
        ClientSlot& slot = directory.clients[number];
        if (std::exchange(one.synced, false)) {
            wake(slot.synced);
        }
        if (std::exchange(one.news, false)) {
            wake(slot.progress);
        }
    }
    for (const std::uint32_t number : busy) {
        if (files[number] && std::exchange(files[number]->notifies, false)) {
            wake(directory.files[number].progress);
        }
    }
}

void PoolState::release_waiters() {
    for (const std::uint32_t number : admitted) {
        ClientSlot& slot = directory.clients[number];
        slot.commits.store(all_commits, std::memory_order_release);
        slot.durable.store(all_commits, std::memory_order_release);
        wake(slot.progress);
        wake(slot.synced);
    }
    for (const auto& [identity, slot] : slots) {
        wake(directory.files[slot].progress);
    }
    directory.header.taken_round.store(directory.header.round.load() + 1);
    ports.sleepers.wake(directory.header.taken_round);
}

}  // namespace forebay::pool
