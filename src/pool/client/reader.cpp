// Look, copy, look again: what was copied counts if the list is still the same there. Who writes
// elsewhere in the file does not keep a reader from ending, and who writes there again and again
// meets ever shorter looks.
#include "pool/client/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace forebay::pool {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t found_max = 64;                   // extents at a time; they lie on the stack
constexpr std::int64_t again = -EAGAIN;                 // the list changed: look again
constexpr std::size_t part_max = std::size_t{8} << 20;  // looked for at a time
constexpr std::size_t part_min = 4096;                  // where the list changes all the time

struct Place {
    Extent extent;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    bool operator==(const Place&) const noexcept = default;
};
Place place_of(const Deposit& deposit) noexcept {
    return {deposit.extent, deposit.client, deposit.position};
}

}  // namespace

bool Reader::catch_up_with(std::uint32_t client) noexcept {
    const ClientSlot& slot = directory_.clients[client];
    const Log log = daemon_.log_of(client);
    if (!log.mapped()) {
        return true;  // it is gone: all it had written is taken
    }
    const std::uint64_t process = slot.used.load(relaxed);
    const std::uint64_t written = log.header().commits.load(std::memory_order_acquire);
    for (;;) {
        const std::uint32_t seen = slot.progress.load(std::memory_order_acquire);
        if (slot.commits.load(std::memory_order_acquire) >= written ||
            slot.used.load(relaxed) != process) {
            return true;
        }
        if (!daemon_.alive()) {
            return false;
        }
        daemon_.kick();
        daemon_.wait(slot.progress, seen);
    }
}

bool Reader::catch_up(const FileSlot& slot) noexcept {
    std::uint64_t writers = slot.writers.load(std::memory_order_acquire);
    while (writers != 0) {
        const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(writers));
        writers &= writers - 1;
        for (std::uint32_t client = bit; client < clients_max; client += 64) {
            if (directory_.clients[client].used.load(relaxed) != 0 && !catch_up_with(client)) {
                return false;
            }
        }
    }
    return true;
}

bool Reader::copy(const Deposit& deposit, std::byte* to) noexcept {
    const Log log = deposit.client < clients_max ? daemon_.log_of(deposit.client) : Log{};
    const std::size_t within = deposit.position % block_bytes;
    if (!log.mapped() || within + deposit.extent.length.size() > block_bytes) {
        return false;
    }
    const std::uint64_t number = deposit.position / block_bytes % blocks_max;
    const std::uint32_t block = directory_.leases[deposit.client][number].load(relaxed);
    std::memcpy(to, log.block(block % blocks_max) + within, deposit.extent.length.size());
    return true;
}

// Bytes read of the first part of the range, `again`, or minus an errno.
std::int64_t Reader::look(const FileSlot& slot, Backing& backing, std::int64_t offset,
                          std::span<std::byte> bytes) noexcept {
    std::array<Deposit, found_max> deposits;
    const Extent range{Offset{offset}, Length{static_cast<std::int64_t>(bytes.size())}};
    const Search search = find(directory_, slot, range, deposits);
    if (search.seen == Seen::changed) {
        return again;
    }
    const std::span<const Deposit> found{deposits.data(), search.found};
    auto want = static_cast<std::int64_t>(bytes.size());
    if (search.seen == Seen::more) {
        want = found.back().extent.end().bytes() - offset;
    }
    std::int64_t covered = 0;
    for (const Deposit& deposit : found) {
        covered += deposit.extent.length.bytes();
    }
    std::int64_t got = want;
    if (covered < want) {
        got = backing.read(offset, bytes.first(static_cast<std::size_t>(want)));
        if (got < 0) {
            return got;
        }
        // A hole between the file system's end of file and a deposit reads as zeros.
        const std::int64_t size = slot.size.load(std::memory_order_acquire);
        const std::int64_t until = std::clamp(size - offset, got, want);
        const std::span<std::byte> hole = bytes.subspan(static_cast<std::size_t>(got),
                                                        static_cast<std::size_t>(until - got));
        if (!backing.may_fill(hole)) {
            return -EFAULT;
        }
        std::ranges::fill(hole, std::byte{0});
        got = until;
    }
    for (const Deposit& deposit : found) {
        const std::span<std::byte> to =
            bytes.subspan(static_cast<std::size_t>(deposit.extent.begin.bytes() - offset),
                          deposit.extent.length.size());
        if (!backing.may_fill(to)) {
            return -EFAULT;
        }
        if (!copy(deposit, to.data())) {
            return again;
        }
        got = std::max(got, deposit.extent.end().bytes() - offset);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool same = slot.version.load(relaxed) == search.version ||
                      still_there(slot, {Offset{offset}, Length{want}}, found);
    return same ? got : again;
}

// Positions are never used twice: what is there again was there all the time. What came and went
// meanwhile was written while we read.
bool Reader::still_there(const FileSlot& slot, const Extent& range,
                         std::span<const Deposit> before) const noexcept {
    std::array<Deposit, found_max> deposits;
    const Search search = find(directory_, slot, range, deposits);
    return search.seen == Seen::whole &&
           std::ranges::equal(before, std::span<const Deposit>{deposits.data(), search.found}, {},
                              place_of, place_of);
}

std::int64_t Reader::read(FileId file, Backing& backing, std::int64_t offset,
                          std::span<std::byte> bytes) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    if (!catch_up(slot)) {
        return -EIO;
    }
    std::size_t done = 0;
    std::size_t most = part_max;
    while (done < bytes.size()) {
        const std::size_t want = std::min(bytes.size() - done, most);
        const std::int64_t got = look(slot, backing, offset + static_cast<std::int64_t>(done),
                                      bytes.subspan(done, want));
        if (got == again) {
            if (!daemon_.alive()) {
                return -EIO;
            }
            most = std::max(want / 2, part_min);
            continue;
        }
        if (got < 0) {
            return done > 0 ? static_cast<std::int64_t>(done) : got;
        }
        done += static_cast<std::size_t>(got);
        if (got == 0) {
            break;
        }
    }
    return static_cast<std::int64_t>(done);
}

std::int64_t Reader::deposited_size(FileId file) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    if (!catch_up(slot)) {
        return -EIO;
    }
    return slot.size.load(std::memory_order_acquire);
}

}  // namespace forebay::pool
