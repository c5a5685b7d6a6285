// Seqlock per block: the state's word changes before the block's name or bytes do, so that a client
// that copies from the block notices.
#include "pool/core/prefetch/read_cache.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/state/file.hpp"
#include "pool/protocol/read_cache.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

constexpr int looks_max = 64;  // maximum number of blocks looked at to find one that gives way
constexpr std::size_t shrink_max = 8;  // maximum number of blocks given back in a round

}  // namespace

std::size_t clean_blocks(const PoolOptions& options) noexcept {
    const std::int64_t bytes = std::min(options.read_ahead_bytes, options.cap_bytes / 4);
    return std::min(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)) / block_bytes,
                    clean_max);
}

ReadCache::ReadCache(Directory& directory, const PoolPorts& ports, std::size_t room)
    : directory_{directory},
      memory_{ports.clean},
      sleepers_{ports.sleepers},
      blocks_max_{memory_ == nullptr ? 0 : room},
      blocks_(blocks_max_ + 1) {
    for (std::size_t number = blocks_max_; number > 0; --number) {
        absent_.push_back(static_cast<std::uint32_t>(number));
    }
    directory_.header.clean_blocks.store(static_cast<std::uint32_t>(blocks_max_), relaxed);
    directory_.header.clean_share.store(
        static_cast<std::uint32_t>(std::min<std::size_t>(blocks_max_ / 2, clean_share_max)),
        relaxed);
}

std::int64_t ReadCache::bytes() const noexcept {
    return static_cast<std::int64_t>((blocks_max_ - absent_.size()) * block_bytes);
}

std::optional<std::uint32_t> ReadCache::find(const PooledFile& file, std::int64_t block) const {
    const auto known = file.prefetch.cached.find(block);
    return known == file.prefetch.cached.end() ? std::nullopt : std::optional{known->second};
}

bool ReadCache::has(std::uint32_t number, const CleanRange& range) const {
    const CleanSlot& one = slot(number);
    return one.begin.load(relaxed) <= range.begin &&
           (one.end.load(relaxed) >= range.end || blocks_[number].ends_file);
}

bool ReadCache::ready(std::uint32_t number) const {
    return clean_state(slot(number).state.load(relaxed)) == CleanState::ready;
}

void ReadCache::touch(std::uint32_t number) {
    expects(blocks_[number].used, "the block is some file's");
    order_.splice(order_.end(), order_, blocks_[number].place);
}

// Drops the block whose last hint is the oldest, among those that are not being read.
bool ReadCache::give_way() {
    int looks = 0;
    for (const std::uint32_t number : order_) {
        if (!blocks_[number].reading && ready(number)) {
            drop(*blocks_[number].file, number);
            return true;
        }
        if (++looks == looks_max) {
            break;
        }
    }
    return false;
}

// The number of an idle block with memory; 0: there is none.
std::uint32_t ReadCache::memory() {
    if (idle_.empty() && !absent_.empty() && !squeezed_) {
        const std::uint32_t number = absent_.back();
        if (memory_->provide(number)) {
            absent_.pop_back();
            idle_.push_back(number);
        }
    }
    if (idle_.empty() && !give_way()) {
        return no_clean;
    }
    invariant(!idle_.empty(), "a block that gave way is idle");
    const std::uint32_t number = idle_.back();
    idle_.pop_back();
    return number;
}

// Changes the state's word, and wakes the clients that wait for the block to be read.
void ReadCache::set_state(std::uint32_t number, CleanState state) {
    CleanSlot& one = slot(number);
    const std::uint32_t before = one.state.load(relaxed);
    one.state.store(after(before, state), std::memory_order_seq_cst);
    // A reader that meets the slot's next name or bytes also finds the word changed.
    std::atomic_thread_fence(std::memory_order_release);
    if (clean_state(before) == CleanState::fetching) {
        sleepers_.wake(one.state);
    }
}

void ReadCache::link(std::uint32_t number) noexcept {
    CleanSlot& one = slot(number);
    const std::size_t bucket = clean_bucket(one.file.load(relaxed), one.block.load(relaxed));
    one.next.store(directory_.clean_heads[bucket].load(relaxed), relaxed);
    directory_.clean_heads[bucket].store(number, std::memory_order_release);
}

void ReadCache::unlink(std::uint32_t number) noexcept {
    const CleanSlot& gone = slot(number);
    const std::size_t bucket = clean_bucket(gone.file.load(relaxed), gone.block.load(relaxed));
    std::atomic<std::uint32_t>* link = &directory_.clean_heads[bucket];
    while (link->load(relaxed) != number) {
        link = &directory_.clean[link->load(relaxed)].next;
    }
    link->store(gone.next.load(relaxed), std::memory_order_release);
}

FetchedBlock ReadCache::take(PooledFile& file, std::int64_t block, const CleanRange& range) {
    expects(range.begin < range.end && range.end <= block_bytes, "a part of a block");
    const std::uint32_t number = memory();
    if (number == no_clean) {
        return {};
    }
    CleanSlot& one = slot(number);
    FileSlot& shared = directory_.files[file.slot];
    one.file.store(file.slot, relaxed);
    one.generation.store(shared.generation.load(relaxed), relaxed);
    one.block.store(block, relaxed);
    one.begin.store(range.begin, relaxed);
    one.end.store(range.end, relaxed);
    set_state(number, CleanState::fetching);
    link(number);
    shared.clean.fetch_add(1, std::memory_order_release);
    file.prefetch.cached[block] = number;
    blocks_[number] = {.file = &file, .used = true, .place = order_.insert(order_.end(), number)};
    return {number, one.state.load(relaxed)};
}

std::optional<ReadCache::Place> ReadCache::begin(const FetchedBlock& block) {
    const CleanSlot& one = slot(block.number);
    if (one.state.load(relaxed) != block.word) {
        return std::nullopt;
    }
    expects(blocks_[block.number].used && !blocks_[block.number].reading, "a block is read once");
    blocks_[block.number].reading = true;
    return Place{.block = one.block.load(relaxed),
                 .range = {one.begin.load(relaxed), one.end.load(relaxed)}};
}

void ReadCache::finish(const FetchedBlock& block, std::uint32_t end) {
    Block& known = blocks_[block.number];
    CleanSlot& one = slot(block.number);
    expects(known.reading, "the block was being read");
    known.reading = false;
    if (!known.used) {  // the block was dropped meanwhile
        idle_.push_back(block.number);
        return;
    }
    if (end <= one.begin.load(relaxed)) {
        drop(*known.file, block.number);
        return;
    }
    known.ends_file = end < one.end.load(relaxed);
    one.end.store(end, relaxed);
    set_state(block.number, CleanState::ready);
}

void ReadCache::drop(PooledFile& file, std::uint32_t number) {
    Block& gone = blocks_[number];
    expects(gone.used && gone.file == &file, "the block is the file's");
    set_state(number, CleanState::free);
    unlink(number);
    file.prefetch.cached.erase(slot(number).block.load(relaxed));
    directory_.files[file.slot].clean.fetch_sub(1, std::memory_order_release);
    order_.erase(gone.place);
    gone.used = false;
    gone.file = nullptr;
    if (!gone.reading) {
        idle_.push_back(number);
    }
}

void ReadCache::drop(PooledFile& file, const Extent& range) {
    if (file.prefetch.cached.empty() || range.empty()) {
        return;
    }
    constexpr auto block = static_cast<std::int64_t>(block_bytes);
    const std::int64_t last = (range.end().bytes() - 1) / block;
    for (auto at = file.prefetch.cached.lower_bound(range.begin.bytes() / block);
         at != file.prefetch.cached.end() && at->first <= last;) {
        drop(file, (at++)->second);
    }
}

void ReadCache::drop_all(PooledFile& file) {
    file.prefetch.queue.clear();
    file.prefetch.fifo.clear();
    while (!file.prefetch.cached.empty()) {
        drop(file, file.prefetch.cached.begin()->second);
    }
}

bool ReadCache::shrink(bool others_need_it) {
    squeezed_ = others_need_it;
    if (!others_need_it && tight()) {
        return false;
    }
    std::size_t given = 0;
    while (given < shrink_max && (!idle_.empty() || (others_need_it && give_way()))) {
        invariant(!idle_.empty(), "a block that gave way is idle");
        memory_->release(idle_.back());
        absent_.push_back(idle_.back());
        idle_.pop_back();
        ++given;
    }
    return given > 0;
}

}  // namespace forebay::pool
