// The table of known files, their states, and the words that their clients sleep on.
#include "pool/core/state/files.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/core/flush/change_time.hpp"
#include "pool/core/state/waking.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace forebay::pool {

namespace {

// The times of a file have the granularity of the kernel's clock tick or of another machine's
// clock. If it was changed less than this before it was opened, a further change may leave the same
// times.
constexpr std::int64_t fresh_ns = 100'000'000;

std::pair<std::uint64_t, std::uint64_t> key_of(const ports::FileIdentity& identity) noexcept {
    return {identity.device, identity.inode};
}

std::atomic<std::uint64_t>& word_of(Directory& directory, std::uint32_t slot) noexcept {
    return directory.files_known[slot / 64];
}

std::uint64_t bit_of(std::uint32_t slot) noexcept { return std::uint64_t{1} << slot % 64; }

}  // namespace

PoolFiles::PoolFiles(const Surroundings& around)
    : directory_{around.directory},
      ports_{around.ports},
      options_{around.options},
      ingest_{around.ingest},
      read_cache_{around.read_cache},
      background_{around.background},
      files_(files_max) {}

PooledFile* PoolFiles::in_slot(std::uint32_t slot) const noexcept {
    return slot < files_max ? files_[slot].get() : nullptr;
}

PooledFile* PoolFiles::find(std::uint32_t slot, std::uint32_t generation) const noexcept {
    PooledFile* const file = in_slot(slot);
    return file != nullptr && generation_of(*file) == generation ? file : nullptr;
}

PooledFile* PoolFiles::find(const ports::FileIdentity& identity) const noexcept {
    const auto known = slots_.find(key_of(identity));
    return known == slots_.end() ? nullptr : &at(known->second);
}

PooledFile& PoolFiles::at(std::uint32_t slot) const noexcept {
    expects(slot < files_max && files_[slot], "a file has the slot");
    return *files_[slot];
}

FileSlot& PoolFiles::slot_of(const PooledFile& file) const noexcept {
    return directory_.files[file.slot];
}

FileState PoolFiles::state_of(const PooledFile& file) const noexcept {
    return slot_of(file).state.load(relaxed);
}

std::uint32_t PoolFiles::generation_of(const PooledFile& file) const noexcept {
    return slot_of(file).generation.load(relaxed);
}

std::uint32_t PoolFiles::take_slot() {
    expects(slots_.size() < files_max, "a slot is free");
    while (files_[next_slot_]) {
        next_slot_ = (next_slot_ + 1) % files_max;
    }
    return std::exchange(next_slot_, (next_slot_ + 1) % files_max);
}

void PoolFiles::fill_in(FileSlot& slot, const DaemonFile& open) const {
    slot.reason.store(ThroughReason::none, relaxed);
    slot.error.store(0, relaxed);
    slot.device.store(open.identity.device, relaxed);
    slot.inode.store(open.identity.inode, relaxed);
    slot.size.store(0, relaxed);
    slot.modified_ns.store(0, relaxed);
    recall_change_time(directory_, slot);
    slot.window.store(
        std::min(open.rule.window_bytes.value_or(options_.window_bytes), options_.cap_bytes / 2),
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
    std::copy_n(open.path.begin(), std::min(open.path.size(), slot.path.size() - 1),
                slot.path.begin());
}

Result<PooledFile*> PoolFiles::add(DaemonFile&& open) {
    expects(find(open.identity) == nullptr, "the file is not known yet");
    if (slots_.size() == files_max) {
        return failure({ErrorCode::input_output, ENFILE,
                        "cannot pool one more file (there are " + std::to_string(files_max) +
                            " already). It is written directly."});
    }
    const std::uint32_t number = take_slot();
    files_[number] = std::make_unique<PooledFile>();
    PooledFile& file = *files_[number];
    file.slot = number;
    file.open = std::make_shared<DaemonFile>(std::move(open));
    slots_[key_of(file.open->identity)] = number;
    look_at_stamp(file, file.open->stamp);
    file.journal.stamp = file.open->stamp;

    FileSlot& slot = slot_of(file);
    fill_in(slot, *file.open);
    slot.state.store(FileState::pooled, std::memory_order_release);
    word_of(directory_, number).fetch_or(bit_of(number), std::memory_order_release);
    if (ports_.inodes != nullptr) {
        ports_.inodes->add(file.open->identity.device, file.open->identity.inode);
    }
    if (closes_for_) {
        leave(file, *closes_for_);
    }
    return &file;
}

void PoolFiles::reopen(PooledFile& file, DaemonFile&& open) {
    expects(file.open->identity == open.identity, "it is the same file");
    const ChangeStamp stamp = open.stamp;
    auto other = std::make_shared<DaemonFile>(std::move(open));
    if (!file.open->storage && other->storage) {
        // The DaemonFile is replaced as a whole: a file opened for reading cannot be truncated
        // either, and background I/O under way keeps the one that it began with.
        std::swap(file.open, other);
    }
    background_.close(std::move(other), {}, slot_of(file).drained.load(relaxed));
    look_at_stamp(file, stamp);
}

// A program outside of the pool may have changed the file since it was last opened: then the read
// cache is dropped, and the journal does not have all of the file's bytes.
void PoolFiles::look_at_stamp(PooledFile& file, const ChangeStamp& stamp) {
    FileStamp& known = file.stamp;
    if (known.changed_here || known.fresh || stamp != *known.seen) {
        read_cache_.drop_all(file);
    }
    if (!known.changed_here && stamp != *known.seen && stamp.bytes > 0) {
        file.journal.past_the_pool = true;
    }
    *known.seen = stamp;
    known.bytes = stamp.bytes;
    known.changed_here = file.flush.batch != nullptr || file.background_task.has_value();
    const std::int64_t changed = std::max(stamp.changed_ns, stamp.modified_ns);
    known.fresh = ports_.calendar.now_ns() - changed < fresh_ns;
}

void PoolFiles::forget(PooledFile& file) {
    expects(file.opens.by_client.empty(), "nobody has the file open");
    expects(file.deposits.held_bytes == 0, "nothing of the file is left to be drained");
    expects(!file.flush.batch && !file.background_task, "nothing of the file is under way");
    expects(file.requests.waiting.empty(), "nobody waits for an answer about the file");
    expects(!file.prefetch.listed, "what is being read has ended");
    read_cache_.drop_all(file);
    FileSlot& slot = slot_of(file);
    remember_change_time(directory_, slot);
    word_of(directory_, file.slot).fetch_and(~bit_of(file.slot), std::memory_order_release);
    if (ports_.inodes != nullptr) {
        ports_.inodes->remove(file.open->identity.device, file.open->identity.inode);
    }
    slot.state.store(FileState::free, relaxed);
    slot.generation.fetch_add(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_release);  // before the slot is the next file's
    slot.progress.fetch_add(1, std::memory_order_release);
    ports_.sleepers.wake(slot.progress);
    const std::size_t erased = slots_.erase(key_of(file.open->identity));
    invariant(erased == 1, "a file is found by its identity");
    if (options_.shared) {
        forgotten_.push_back(file.slot);
    }
    background_.close(std::move(file.open), std::move(file.prefetch.source),
                      slot.drained.load(relaxed));
    files_[file.slot].reset();
}

bool PoolFiles::lets_go(const ports::FileIdentity& identity) const {
    if (const PooledFile* const file = find(identity)) {
        const bool failed = slot_of(*file).error.load(relaxed) != 0 || file->journal.lost;
        return file->opens.by_client.empty() && !failed;
    }
    return background_.hurries_close(identity);
}

// Otherwise the daemon's descriptor would keep the blocks of a file that its programs have unlinked
// and closed.
void PoolFiles::release_descriptors(PooledFile& file) {
    expects(file.deposits.held_bytes == 0, "the pool writes nothing to the file any more");
    expects(!file.flush.batch && !file.background_task, "nothing of the file is under way");
    auto without = std::make_shared<DaemonFile>();
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
    background_.close(std::move(without), std::move(file.prefetch.source),
                      slot_of(file).drained.load(relaxed));
}

void PoolFiles::leave(PooledFile& file, ThroughReason reason) {
    FileSlot& slot = slot_of(file);
    if (slot.state.load(relaxed) != FileState::pooled) {
        // A reason that can be undone gives way to one that cannot, and to the program's own
        // switch.
        if (can_be_undone(slot.reason.load(relaxed)) && reason != ThroughReason::uncaptured) {
            slot.reason.store(reason, relaxed);
        }
        return;
    }
    slot.reason.store(reason, relaxed);
    // This store precedes the look at entries that decides whether the file is through; a client
    // reserves its entry first and looks at the state then. So one of them sees the other.
    slot.state.store(FileState::leaving, std::memory_order_seq_cst);
    file.lifecycle.left_in_round = ingest_.round;
    file.lifecycle.left_ns = ports_.clock.now_ns();
    file.journal.past_the_pool = true;
    read_cache_.drop_all(file);
    notify(file);
}

bool PoolFiles::come_back(PooledFile& file, ThroughReason from) {
    FileSlot& slot = slot_of(file);
    const FileState state = slot.state.load(relaxed);
    if (state == FileState::pooled) {
        return true;
    }
    if (state != FileState::through || closing() || slot.reason.load(relaxed) != from) {
        return false;
    }
    invariant(file.deposits.held_bytes == 0, "nothing is deposited of a file that is through");
    // A program that was not captured may have changed anything, also the length of the file.
    file.stamp.changed_here = file.stamp.changed_here || from == ThroughReason::uncaptured;
    slot.reason.store(ThroughReason::none, relaxed);
    slot.state.store(FileState::pooled, std::memory_order_seq_cst);
    notify(file);
    return true;
}

void PoolFiles::close_down(ThroughReason reason) {
    closes_for_ = closes_for_.value_or(reason);
    for (PooledFile& file : known()) {
        leave(file, *closes_for_);
    }
}

void PoolFiles::mark_busy(PooledFile& file) {
    if (!file.busy_) {
        file.busy_ = true;
        busy_.push_back(file.slot);
    }
}

void PoolFiles::notify(PooledFile& file) {
    file.notifies_ = true;
    mark_busy(file);
}

void PoolFiles::wake_notified() {
    for_each_busy([&](PooledFile& file) {
        if (std::exchange(file.notifies_, false)) {
            change_and_wake(ports_.sleepers, slot_of(file).progress);
        }
    });
}

void PoolFiles::release_waiters() {
    for (const PooledFile& file : known()) {
        change_and_wake(ports_.sleepers, slot_of(file).progress);
    }
}

}  // namespace forebay::pool
