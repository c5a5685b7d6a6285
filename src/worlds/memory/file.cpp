// The fault of a request is drawn from (seed, offset, attempt), not from a shared random sequence,
// so a seed gives the same faults in any order of threads.
#include "worlds/memory/file.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::adapters {

namespace {

std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

std::int64_t total_of(const ports::Request& request) noexcept {
    std::int64_t total = 0;
    for (const ports::Piece& piece : request.pieces) {
        total += static_cast<std::int64_t>(piece.bytes.size());
    }
    return total;
}

bool happens(std::uint64_t dice, std::int32_t percent) noexcept {
    return std::cmp_less(dice % 100, percent);
}

// The offset at which a request stops, and the errno.
struct RequestStop {
    Offset at;
    int system = 0;
};

std::optional<RequestStop> stop_in(const StorageFaults& faults, IoDirection direction,
                                   const ports::Piece& piece,
                                   std::optional<Offset> full_at) noexcept {
    const Offset end = piece.at + Length{static_cast<std::int64_t>(piece.bytes.size())};
    std::optional<RequestStop> stop;
    if (faults.error_at && piece.at <= *faults.error_at && *faults.error_at < end) {
        stop = {*faults.error_at, faults.error};
    }
    for (const Extent& bad : faults.bad) {
        const Extent met = intersection(bad, {piece.at, end - piece.at});
        if (!met.empty() && (!stop || met.begin < stop->at)) {
            stop = {met.begin, faults.error};
        }
    }
    if (direction == IoDirection::write && full_at && *full_at < end) {
        const Offset full = std::max(*full_at, piece.at);
        if (!stop || full < stop->at) {
            stop = {full, ENOSPC};
        }
    }
    return stop;
}

}  // namespace

std::uint64_t scramble(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept {
    return mix(mix(mix(seed) ^ a) ^ b);
}

MemoryFile::MemoryFile(StorageFaults faults) : faults_{faults} {}

void MemoryFile::put(Offset at, std::span<const std::byte> bytes) {
    const std::scoped_lock lock{mutex_};
    put_locked(at, bytes);
}

std::vector<std::byte> MemoryFile::get(const Extent& extent) const {
    const std::scoped_lock lock{mutex_};
    std::vector<std::byte> bytes(extent.length.size());
    get_locked(extent.begin, bytes);
    return bytes;
}

Length MemoryFile::size() const {
    const std::scoped_lock lock{mutex_};
    return Length{size_};
}

void MemoryFile::truncate(Length bytes) {
    const std::scoped_lock lock{mutex_};
    std::erase_if(blocks_,
                  [&](const auto& block) { return block.first * block_bytes >= bytes.bytes(); });
    const auto last = blocks_.find(bytes.bytes() / block_bytes);
    if (last != blocks_.end()) {
        const auto kept = static_cast<std::ptrdiff_t>(bytes.bytes() % block_bytes);
        std::fill(last->second->begin() + kept, last->second->end(), std::byte{0});
    }
    size_ = bytes.bytes();
}

void MemoryFile::set_faults(const StorageFaults& faults) {
    const std::scoped_lock lock{mutex_};
    faults_ = faults;
}

std::vector<Extent> MemoryFile::log(IoDirection direction) const {
    const std::scoped_lock lock{mutex_};
    return direction == IoDirection::write ? written_ : read_;
}

ports::FileIdentity MemoryFile::identity() const noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): an address is an identity
    return {0, reinterpret_cast<std::uintptr_t>(this)};
}

void MemoryFile::put_locked(Offset at, std::span<const std::byte> bytes) {
    std::int64_t position = at.bytes();
    while (!bytes.empty()) {
        std::unique_ptr<Block>& block = blocks_[position / block_bytes];
        if (!block) {
            block = std::make_unique<Block>();
        }
        const auto within = static_cast<std::size_t>(position % block_bytes);
        const std::size_t count = std::min(bytes.size(), block->size() - within);
        std::copy_n(bytes.begin(), count, block->data() + within);
        bytes = bytes.subspan(count);
        position += static_cast<std::int64_t>(count);
    }
    size_ = std::max(size_, position);
}

void MemoryFile::get_locked(Offset at, std::span<std::byte> bytes) const {
    std::int64_t position = at.bytes();
    while (!bytes.empty()) {
        const auto within = static_cast<std::size_t>(position % block_bytes);
        const std::size_t count =
            std::min(bytes.size(), static_cast<std::size_t>(block_bytes) - within);
        const auto block = blocks_.find(position / block_bytes);
        if (block == blocks_.end()) {
            std::fill_n(bytes.begin(), count, std::byte{0});
        } else {
            std::copy_n(block->second->data() + within, count, bytes.begin());
        }
        bytes = bytes.subspan(count);
        position += static_cast<std::int64_t>(count);
    }
}

// Moves up to `bytes` of the piece; a read ends at the end of the file.
std::int64_t MemoryFile::move(IoDirection direction, const ports::Piece& piece,
                              std::int64_t bytes) {
    if (direction == IoDirection::read) {
        bytes = std::clamp<std::int64_t>(size_ - piece.at.bytes(), 0, bytes);
    }
    const auto part = piece.bytes.first(static_cast<std::size_t>(bytes));
    if (direction == IoDirection::write && bytes > 0) {
        put_locked(piece.at, part);
    } else if (direction == IoDirection::read) {
        get_locked(piece.at, part);
    }
    return bytes;
}

ports::RequestCompletion MemoryFile::perform(const ports::Request& request, std::uint64_t attempt) {
    const std::scoped_lock lock{mutex_};
    const std::int64_t number = requests_++;
    const std::int64_t total = total_of(request);
    if (total == 0) {
        return {request.ticket, Length{0}, 0};
    }
    const auto place = static_cast<std::uint64_t>(request.pieces.front().at.bytes());
    const std::uint64_t dice = scramble(faults_.seed, place, attempt);
    if (faults_.error_at_request == number) {
        return {request.ticket, Length{0}, faults_.error};
    }
    if (happens(dice, faults_.interrupted_percent)) {
        return {request.ticket, Length{0}, EINTR};
    }
    if (happens(mix(dice + 1), faults_.again_percent)) {
        return {request.ticket, Length{0}, EAGAIN};
    }
    std::int64_t left = total;
    if (happens(mix(dice + 2), faults_.short_percent)) {
        left = 1 + static_cast<std::int64_t>(mix(dice + 3) % static_cast<std::uint64_t>(total));
    }
    return move_all(request, left);
}

// The offset at which a write from `begin` on meets ENOSPC.
std::optional<Offset> MemoryFile::full_at(Offset begin) const noexcept {
    if (!faults_.room) {
        return faults_.full_at;
    }
    const Offset out_of_room = begin + Length{*faults_.room - taken_};
    return std::min(out_of_room, faults_.full_at.value_or(out_of_room));
}

// Returns an errno only if it stops the very next byte. A request that got some way into a piece is
// short, and the next request meets the error, as in the kernel.
ports::RequestCompletion MemoryFile::move_all(const ports::Request& request,
                                              std::int64_t bytes_max) {
    std::vector<Extent>& log = request.direction == IoDirection::write ? written_ : read_;
    const std::size_t log_begin = log.size();
    std::int64_t moved = 0;
    for (const ports::Piece& piece : request.pieces) {
        auto size = std::min(static_cast<std::int64_t>(piece.bytes.size()), bytes_max - moved);
        const std::optional<RequestStop> stop =
            stop_in(faults_, request.direction, piece, full_at(piece.at));
        if (stop) {
            size = std::min(size, (stop->at - piece.at).bytes());
        }
        const std::int64_t done = move(request.direction, piece, size);
        if (log.size() > log_begin && log.back().end() == piece.at) {
            log.back().length += Length{done};
        } else if (done > 0) {
            log.push_back({piece.at, Length{done}});
        }
        moved += done;
        taken_ += request.direction == IoDirection::write ? done : 0;
        if (stop && done == 0 && moved < bytes_max) {
            return {request.ticket, Length{moved}, stop->system};
        }
        if (std::cmp_less(done, piece.bytes.size())) {
            break;
        }
    }
    return {request.ticket, Length{moved}, 0};
}

}  // namespace forebay::adapters
