// Right sizes, blocks and times matter, for example, to tar: it takes a file with a length but no
// blocks for one hole, and reports a file whose st_ctime changes as being modified.
#include "pool/client/stat_addition.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/units.hpp"
#include "pool/protocol/search.hpp"

#include <algorithm>
#include <array>

namespace forebay::pool {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t sector = 512;  // the unit of st_blocks
// With more extents than this, the room is estimated instead of counted.
constexpr std::uint32_t extents_walked_max = 256;
constexpr int additions_tries_max = 8;

std::int64_t up(std::int64_t bytes, std::int64_t grain) noexcept {
    return (bytes + grain - 1) / grain * grain;
}

// The exact number of bytes, by a walk over the extents; nullopt if the daemon changes the list
// meanwhile.
std::optional<std::int64_t> walked(const Directory& directory, const FileSlot& slot,
                                   std::int64_t grain) noexcept {
    std::array<Deposit, 16> some{};
    std::int64_t occupied = 0;
    std::int64_t end = 0;  // end of the grains counted so far
    Offset at{0};
    for (std::uint32_t left = extents_walked_max / some.size() + 1; left > 0; --left) {
        const DepositSearch search = find(directory, slot, {at, Offset::none() - at}, some);
        if (search.seen == SearchResult::changed) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < search.found; ++i) {
            const std::int64_t begin = some[i].extent.begin.bytes() / grain * grain;
            const std::int64_t behind = up(some[i].extent.end().bytes(), grain);
            occupied += std::max(behind - std::max(begin, end), std::int64_t{0});
            end = std::max(end, behind);
            at = some[i].extent.end();
        }
        if (search.seen == SearchResult::whole) {
            return occupied;
        }
    }
    return std::nullopt;
}

// Bytes that the deposits will occupy; an estimate is never too low.
std::int64_t occupied_by(const Directory& directory, const FileSlot& slot,
                         std::int64_t grain) noexcept {
    for (int tried = 0; tried < additions_tries_max; ++tried) {
        const std::uint32_t extents = slot.extents.load(relaxed);
        if (extents == 0) {
            return 0;
        }
        if (extents > extents_walked_max) {
            break;
        }
        if (const auto exact = walked(directory, slot, grain)) {
            return *exact;
        }
    }
    // The two are not read at one time: `drained` may be ahead of what `taken` was.
    const std::int64_t held = slot.taken.load(relaxed) - slot.drained.load(relaxed);
    return up(std::max(held, std::int64_t{0}), grain) + 2 * grain * slot.extents.load(relaxed);
}

ChangeTimes times_in(const FileSlot& slot) noexcept {
    ChangeTimes times;
    times.modified_ns = slot.modified_ns.load(relaxed);
    times.stamped_ns = slot.stamped_ns.load(std::memory_order_acquire);
    times.changed_ns = slot.changed_ns.load(relaxed);
    return times;
}

// Whether what was read of the slot before was the file's. An acquire load of the generation would
// let those reads come after it.
bool is_still(const FileSlot& slot, FileId file) noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return slot.generation.load(relaxed) == file.generation;
}

// Whether the file system's ctime is that of the pool's draining.
bool is_ours(const ChangeTimes& times, std::int64_t found_ns) noexcept {
    const bool settled = times.stamped_ns != 0 && times.stamped_ns == found_ns;
    return settled || (times.modified_ns != 0 && times.stamped_ns == ChangeTime::unsettled);
}

}  // namespace

std::int64_t grain_of(std::int64_t preferred) noexcept {
    return std::clamp(preferred, sector, usual_grain);
}

std::optional<StatAddition> addition_of(const Directory& directory, PoolReader& reader, FileId file,
                                        std::int64_t grain) noexcept {
    const std::int64_t size = reader.deposited_size(file);
    if (size < 0) {
        return std::nullopt;
    }
    const FileSlot& slot = directory.files[file.slot];
    const StatAddition addition{
        .size = size, .occupied = occupied_by(directory, slot, grain), .times = times_in(slot)};
    return is_still(slot, file) ? std::optional{addition} : std::nullopt;
}

ChangeTimes times_of(const Directory& directory, FileId file) noexcept {
    const FileSlot& slot = directory.files[file.slot];
    const ChangeTimes times = times_in(slot);
    return is_still(slot, file) ? times : ChangeTimes{};
}

ChangeTimes remembered_times(const Directory& directory, dev_t device, ino_t inode) noexcept {
    const ChangeTime& one = directory.change_times[change_time_place(device, inode)];
    const std::uint64_t version = one.version.load(std::memory_order_acquire);
    const bool same = one.device.load(relaxed) == device && one.inode.load(relaxed) == inode;
    const ChangeTimes times{.modified_ns = 0,
                            .stamped_ns = one.stamped_ns.load(relaxed),
                            .changed_ns = one.changed_ns.load(relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole = version % 2 == 0 && one.version.load(relaxed) == version;
    return version != 0 && same && whole ? times : ChangeTimes{};
}

std::int64_t change_time(const ChangeTimes& before, std::int64_t found_ns,
                         const ChangeTimes& after) noexcept {
    if (!is_ours(before, found_ns) && !is_ours(after, found_ns)) {
        return std::max(found_ns, before.modified_ns);
    }
    return std::max({before.modified_ns, before.changed_ns, after.modified_ns, after.changed_ns});
}

std::int64_t blocks_with(const StatAddition& addition, std::int64_t found, std::int64_t size,
                         std::int64_t grain) noexcept {
    const std::int64_t whole = up(size, grain) / sector;
    return std::min(found + addition.occupied / sector, std::max(found, whole));
}

void set_change_time(const ChangeTimes& before, const ChangeTimes& after,
                     struct stat& status) noexcept {
    const std::int64_t found = status.st_ctim.tv_sec * second_ns + status.st_ctim.tv_nsec;
    const std::int64_t seen = change_time(before, found, after);
    status.st_ctim = {seen / second_ns, seen % second_ns};
}

void add(const StatAddition& addition, const ChangeTimes& after, struct stat& status) noexcept {
    const std::int64_t modified = addition.times.modified_ns;
    status.st_size = std::max<off_t>(status.st_size, addition.size);
    status.st_blocks =
        blocks_with(addition, status.st_blocks, status.st_size, grain_of(status.st_blksize));
    if (modified != 0) {
        status.st_mtim = {modified / second_ns, modified % second_ns};
    }
    set_change_time(addition.times, after, status);
}

}  // namespace forebay::pool
