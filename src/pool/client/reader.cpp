// A sequence lock, range by range: find the extents, copy, and find them again; the copy counts if
// they are the same. A writer elsewhere in the file does not delay a reader, and after each
// conflict the reader tries a shorter range.
#include "pool/client/reader.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/client/copy.hpp"
#include "pool/protocol/read_cache.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <tuple>
#include <type_traits>

namespace forebay::pool {

namespace {

constexpr std::size_t found_max = 64;                   // extents found at a time; on the stack
constexpr std::int64_t again = -EAGAIN;                 // the list changed meanwhile: try again
constexpr std::size_t part_max = std::size_t{8} << 20;  // bytes searched for at a time
constexpr std::size_t part_min = 4096;                  // lower bound, after conflicts
constexpr std::int64_t wish_bytes_max = std::int64_t{1} << 30;

struct DepositPlace {
    Extent extent;
    std::uint32_t client = 0;
    std::uint64_t position = 0;
    bool operator==(const DepositPlace&) const noexcept = default;
};
DepositPlace place_of(const Deposit& deposit) noexcept {
    return {deposit.extent, deposit.client, deposit.position};
}

// Uninitialised memory on the stack for the extents found: clearing it would take as long as the
// rest of a small read.
class DepositRoom {
public:
    DepositRoom() noexcept {}  // NOLINT(*-member-init,*-use-equals-default): that would clear it
    [[nodiscard]] std::span<Deposit> deposits() noexcept {
        return {std::launder(reinterpret_cast<Deposit*>(bytes_.data())), found_max};
    }

private:
    alignas(Deposit) std::array<std::byte, found_max * sizeof(Deposit)> bytes_;
};

}  // namespace

bool PoolReader::catch_up_with(std::uint32_t client) noexcept {
    const ClientSlot& slot = directory_.clients[client];
    const std::uint64_t process = slot.used.load(std::memory_order_acquire);
    const Log log = daemon_.log_of(client);
    if (process == 0 || !log.mapped()) {
        return true;  // the client has ended: all its commits are taken
    }
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

// A round that has begun may have passed what was committed since, so this waits for the next one.
bool PoolReader::catch_up_with_all() noexcept {
    const DirectoryHeader& header = directory_.header;
    const std::uint32_t next = header.round.load(std::memory_order_seq_cst) + 1;
    for (;;) {
        const std::uint32_t seen = header.taken_round.load(std::memory_order_acquire);
        if (static_cast<std::int32_t>(seen - next) >= 0) {
            return true;
        }
        if (!daemon_.alive()) {
            return false;
        }
        daemon_.kick();
        daemon_.wait(header.taken_round, seen);
    }
}

// False: the daemon has ended. A client that this process does not see makes `seen_all` false.
bool PoolReader::catch_up_with_each(std::uint32_t first, std::uint64_t writers,
                                    bool& seen_all) noexcept {
    for (; writers != 0; writers &= writers - 1) {
        const std::uint32_t client = first + static_cast<std::uint32_t>(__builtin_ctzll(writers));
        if (directory_.clients[client].used.load(relaxed) == 0) {
            continue;
        }
        if (!daemon_.sees(client)) {
            seen_all = false;
        } else if (!catch_up_with(client)) {
            return false;
        }
    }
    return true;
}

bool PoolReader::catch_up(const FileSlot& slot) noexcept {
    // Nearly every file has few writers, so four words are looked at by one branch: one after the
    // other would be a tenth of a small read.
    static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(slot.writers)>> % 4 == 0);
    const auto word = [&slot](std::size_t number) noexcept {
        return slot.writers[number].load(std::memory_order_acquire);
    };
    bool seen_all = true;
    for (std::size_t number = 0; number < slot.writers.size(); number += 4) {
        if ((word(number) | word(number + 1) | word(number + 2) | word(number + 3)) == 0)
            [[likely]] {
            continue;
        }
        for (std::size_t one = number; one < number + 4; ++one) {
            const std::uint64_t writers = word(one);
            if (writers != 0 &&
                !catch_up_with_each(static_cast<std::uint32_t>(one * 64), writers, seen_all)) {
                return false;
            }
        }
    }
    return seen_all || catch_up_with_all();
}

bool PoolReader::copy(const Deposit& deposit, std::byte* to) noexcept {
    const Log log = deposit.client < clients_max ? daemon_.log_of(deposit.client) : Log{};
    const std::size_t within = deposit.position % block_bytes;
    if (!log.mapped() || within + deposit.extent.length.size() > block_bytes) {
        return false;
    }
    const std::uint64_t number = deposit.position / block_bytes % blocks_max;
    const std::uint32_t block = block_of(directory_.leases[deposit.client][number].load(relaxed));
    copy_changing(to, log.block(block) + within, deposit.extent.length.size());
    return true;
}

// Number of read-cache blocks that may be fetched ahead of this reader.
std::int32_t PoolReader::share_of(const FileSlot& slot) const noexcept {
    const auto share = static_cast<std::int64_t>(
        std::min<std::uint32_t>(directory_.header.clean_share.load(relaxed), clean_max));
    // The paper's mode has one window for reads and writes.
    const bool bounded = consistency_ == CacheConsistency::paper;
    const std::int64_t window = slot.window.load(relaxed) / static_cast<std::int64_t>(block_bytes);
    return static_cast<std::int32_t>(bounded ? std::min(share, std::max<std::int64_t>(window, 0))
                                             : share);
}

// Notes the read, and sends prefetch hints if there are new ones, which is rare.
void PoolReader::wish(const Source& source, std::int64_t offset, std::size_t bytes) noexcept {
    const PrefetchHints wishes = source.guess->note(
        {Offset{offset}, Length{static_cast<std::int64_t>(bytes)}}, share_of(source.slot));
    if (wishes.count > 0) [[unlikely]] {
        publish(source, wishes);
    }
}

void PoolReader::publish(const Source& source, const PrefetchHints& wishes) noexcept {
    if (source.slot.state.load(relaxed) != FileState::pooled) {
        return;
    }
    for (const Extent& range : std::span{wishes.ranges}.first(wishes.count)) {
        const std::int64_t length = std::min<std::int64_t>(range.length.bytes(), wish_bytes_max);
        ahead_.hint_writer->notify_daemon(source.file, EntryKind::wanted, range.begin.bytes(),
                                          static_cast<std::uint32_t>(length));
    }
    daemon_.kick();
}

// Copies from a read-cache block the beginning of the range. Returns bytes; 0 if no block has it.
// Waits for a block that is just being fetched.
std::size_t PoolReader::clean(const Source& source, std::int64_t offset,
                              std::span<std::byte> bytes) noexcept {
    constexpr auto block = static_cast<std::int64_t>(block_bytes);
    const auto within = static_cast<std::uint32_t>(offset % block);
    bool caught_up = source.guess == nullptr || !source.guess->asked(offset);
    while (source.slot.state.load(relaxed) == FileState::pooled) {
        const CleanFound found =
            find_clean(directory_, {source.file.slot, source.file.generation, offset / block});
        const CleanSlot& slot = directory_.clean[found.number];
        const std::uint32_t begin = slot.begin.load(relaxed);
        const std::uint32_t end = std::min<std::uint32_t>(slot.end.load(relaxed), block_bytes);
        if (found.number == no_clean || within < begin || within >= end) {
            if (caught_up || !catch_up_with(ahead_.client)) {
                return 0;
            }
            caught_up = true;  // now the daemon has taken the hint
            continue;
        }
        if (clean_state(found.word) == CleanState::fetching) {
            if (!daemon_.alive()) {
                return 0;
            }
            daemon_.wait(slot.state, found.word);
            continue;
        }
        const std::size_t count = std::min<std::size_t>(bytes.size(), end - within);
        if (!source.backing.may_fill(bytes.first(count))) {
            return 0;  // the kernel's own read will return the right error
        }
        copy_changing(bytes.data(), ahead_.blocks + clean_place(found.number) + within, count);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (slot.state.load(relaxed) == found.word) [[likely]] {
            return count;
        }
    }
    return 0;
}

// BackingFile::read(), measured: its duration tells whether fetching ahead is worthwhile.
std::int64_t PoolReader::direct(const Source& source, std::int64_t offset,
                                std::span<std::byte> bytes) noexcept {
    if (source.guess == nullptr) {
        return source.backing.read(offset, bytes);
    }
    const std::int64_t before = daemon_.now_ns();
    const std::int64_t got = source.backing.read(offset, bytes);
    if (got > 0) {
        const std::int64_t took = daemon_.now_ns() - before;
        const std::int64_t fetching = std::int64_t{source.slot.fetch_us.load(relaxed)} * 1000;
        if (source.guess->direct({Offset{offset}, Length{got}}, took, fetching)) {
            PrefetchHints wishes;
            const std::int64_t block = offset / ReadAhead::block * ReadAhead::block;
            wishes.ranges[wishes.count++] = {Offset{block}, Length{ReadAhead::block}};
            publish(source, wishes);
        }
    }
    return got;
}

// Reads the bytes below the deposits. Returns bytes, fewer only at the end of the file, or minus an
// errno.
std::int64_t PoolReader::below(const Source& source, std::int64_t offset,
                               std::span<std::byte> bytes) noexcept {
    if (ahead_.blocks == nullptr || (source.slot.clean.load(std::memory_order_acquire) == 0 &&
                                     (source.guess == nullptr || !source.guess->asked(offset)))) {
        return direct(source, offset, bytes);
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
        const std::int64_t at = offset + static_cast<std::int64_t>(done);
        if (const std::size_t some = clean(source, at, bytes.subspan(done)); some > 0) {
            done += some;
            if (source.guess != nullptr) {
                source.guess->found();
            }
            continue;
        }
        const std::size_t part =
            std::min(bytes.size() - done, block_bytes - static_cast<std::size_t>(at) % block_bytes);
        const std::int64_t got = direct(source, at, bytes.subspan(done, part));
        if (got < 0) {
            return got;
        }
        done += static_cast<std::size_t>(got);
        if (got < static_cast<std::int64_t>(part)) {
            break;
        }
    }
    return static_cast<std::int64_t>(done);
}

// One attempt to read the range. Returns bytes from its beginning, `again`, or minus an errno.
std::int64_t PoolReader::look(const Source& source, std::int64_t offset,
                              std::span<std::byte> bytes) noexcept {
    const FileSlot& slot = source.slot;
    DepositRoom room;
    const Extent range{Offset{offset}, Length{static_cast<std::int64_t>(bytes.size())}};
    const std::int64_t size_before = slot.size.load(std::memory_order_acquire);
    const DepositSearch search = find(directory_, slot, range, room.deposits());
    if (search.seen == SearchResult::changed) {
        return again;
    }
    const std::span<const Deposit> found = room.deposits().first(search.found);
    auto want = static_cast<std::int64_t>(bytes.size());
    if (search.seen == SearchResult::more) {
        want = found.back().extent.end().bytes() - offset;
    }
    std::int64_t covered = 0;
    for (const Deposit& deposit : found) {
        covered += deposit.extent.length.bytes();
    }
    std::int64_t got = want;
    if (covered < want) {
        got = below(source, offset, bytes.first(static_cast<std::size_t>(want)));
        if (got < 0) {
            return got;
        }
        // Between the file system's end of file and a deposit lies a hole, which reads as zeros:
        // up to the size before, or to a deposit that was found. The file may have grown since by
        // bytes that came and are drained already.
        const std::int64_t size = slot.size.load(std::memory_order_acquire);
        if (size < size_before) {
            return again;  // truncated, or drained and written through meanwhile
        }
        const std::int64_t end =
            found.empty() ? size_before : std::max(size_before, found.back().extent.end().bytes());
        const std::int64_t until = std::clamp(end - offset, got, want);
        const std::span<std::byte> hole =
            bytes.subspan(static_cast<std::size_t>(got), static_cast<std::size_t>(until - got));
        if (!source.backing.may_fill(hole)) {
            return -EFAULT;
        }
        std::ranges::fill(hole, std::byte{0});
        got = until;
    }
    for (const Deposit& deposit : found) {
        const std::span<std::byte> to =
            bytes.subspan(static_cast<std::size_t>(deposit.extent.begin.bytes() - offset),
                          deposit.extent.length.size());
        if (!source.backing.may_fill(to)) {
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

// Log positions are never reused, so a deposit that is found again was there all the time. One that
// came and went meanwhile was written during this read.
bool PoolReader::still_there(const FileSlot& slot, const Extent& range,
                             std::span<const Deposit> before) const noexcept {
    DepositRoom room;
    const DepositSearch search = find(directory_, slot, range, room.deposits());
    return search.seen == SearchResult::whole &&
           std::ranges::equal(before, room.deposits().first(search.found), {}, place_of, place_of);
}

void PoolReader::set_up(ReadAheadPolicy& guess) const noexcept {
    guess.use(consistency_);
    if (directory_.header.readers.load(relaxed) > 0) [[unlikely]] {
        guess.leave_to_daemon();
    }
}

std::int64_t PoolReader::read(FileId file, BackingFile& backing, ReadAheadPolicy* guess,
                              std::int64_t offset, std::span<std::byte> bytes) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    if (!catch_up(slot)) {
        return -EIO;
    }
    const Source source{file, slot, backing, ahead_.blocks == nullptr ? nullptr : guess};
    if (source.guess != nullptr) {
        set_up(*source.guess);
    }
    std::size_t done = 0;
    std::size_t told = 0;
    std::size_t most = part_max;
    while (done < bytes.size()) {
        const std::int64_t at = offset + static_cast<std::int64_t>(done);
        std::size_t want = std::min(bytes.size() - done, most);
        if (source.guess != nullptr) {
            if (want > block_bytes && !source.guess->worthwhile()) {
                // The first block of a long read shows whether the file system is slow.
                want = block_bytes - static_cast<std::size_t>(at) % block_bytes;
            }
            if (done >= told) {
                wish(source, at, want);
                told = done + want;
            }
        }
        const std::int64_t got = look(source, at, bytes.subspan(done, want));
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

std::int64_t PoolReader::deposited_size(FileId file) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    if (!catch_up(slot)) {
        return -EIO;
    }
    return slot.size.load(std::memory_order_acquire);
}

}  // namespace forebay::pool
