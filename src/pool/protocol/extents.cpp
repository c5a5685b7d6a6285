// The skip list: one thread of the daemon writes, any number of clients read.
#include "pool/protocol/extents.hpp"

#include "foundation/base/atomics.hpp"

#include <algorithm>
#include <bit>

namespace forebay::pool {

namespace {

// The writer's side of the sequence lock of a file's list: the version is odd while this object
// lives.
class ExtentsChange {
public:
    explicit ExtentsChange(FileSlot& file) noexcept : file_{file} {
        file_.version.store(file_.version.load(relaxed) + 1, relaxed);
        std::atomic_thread_fence(std::memory_order_release);
    }
    ExtentsChange(const ExtentsChange&) = delete;
    ExtentsChange& operator=(const ExtentsChange&) = delete;
    ~ExtentsChange() {
        file_.version.store(file_.version.load(relaxed) + 1, std::memory_order_release);
    }

private:
    FileSlot& file_;
};

Deposit deposit_at(const ExtentNode& node) noexcept {
    return {.extent = {Offset{node.begin.load(relaxed)}, Length{node.length.load(relaxed)}},
            .client = node.client.load(relaxed),
            .position = node.position.load(relaxed),
            .time_ns = node.time_ns.load(relaxed)};
}

bool same_block(const Deposit& a, const Deposit& b) noexcept {
    return a.position / block_bytes == b.position / block_bytes;
}

// Whether `b` follows `a` directly, in the file and in the same block of the same log.
bool continues(const Deposit& a, const Deposit& b) noexcept {
    return a.client == b.client && a.extent.end() == b.extent.begin &&
           a.position + a.extent.length.size() == b.position && same_block(a, b);
}

}  // namespace

FileExtents::FileExtents(Directory& directory) : directory_{directory}, fingers_(clients_max) {}

std::size_t FileExtents::room() const noexcept { return unused_.size() + (extents_max - fresh_); }

FileExtents::Before FileExtents::links_to(FileSlot& file, std::int64_t at) const noexcept {
    Finger none;
    return links_to(file, at, none);
}

// Whether the extents that `finger` names are still linked and end no later than `at`. (One of them
// may have become longer since.)
bool FileExtents::points_before(const Finger& finger, const FileSlot& file,
                                std::int64_t at) const noexcept {
    return finger.file == &file && finger.unlinked == unlinked_ &&
           std::ranges::all_of(finger.passed, [&](std::uint32_t number) {
               return number == no_extent || end_of(node(number)) <= at;
           });
}

FileExtents::Before FileExtents::links_to(FileSlot& file, std::int64_t at,
                                          Finger& finger) const noexcept {
    if (!points_before(finger, file, at)) {
        finger = {.file = &file, .unlinked = unlinked_};
    }
    Before before{};
    std::uint32_t passed = no_extent;
    bool beyond = false;  // a higher level has passed extents that the finger does not know
    for (std::size_t level = levels; level-- > 0;) {
        passed = beyond ? passed : finger.passed[level];
        Heads* links = passed == no_extent ? &file.heads : &node(passed).next;
        std::uint32_t number = (*links)[level].load(relaxed);
        while (number != no_extent && end_of(node(number)) <= at) {
            beyond = true;
            passed = number;
            links = &node(number).next;
            number = (*links)[level].load(relaxed);
        }
        before[level] = &(*links)[level];
        finger.passed[level] = passed;
    }
    return before;
}

std::uint32_t FileExtents::make(const Deposit& deposit) {
    std::uint32_t number = fresh_;
    if (unused_.empty()) {
        ++fresh_;
    } else {
        number = unused_.back();
        unused_.pop_back();
    }
    dice_ = dice_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const int zeros = std::countr_zero((dice_ >> 33U) | 1ULL << 30U);
    ExtentNode& made = node(number);
    made.begin.store(deposit.extent.begin.bytes(), relaxed);
    made.length.store(deposit.extent.length.bytes(), relaxed);
    made.position.store(deposit.position, relaxed);
    made.time_ns.store(deposit.time_ns, relaxed);
    made.client.store(deposit.client, relaxed);
    made.height.store(std::min<std::uint32_t>(levels, 1 + static_cast<std::uint32_t>(zeros) / 2),
                      relaxed);
    return number;
}

void FileExtents::link(FileSlot& file, const Before& before, std::uint32_t number) noexcept {
    ExtentNode& made = node(number);
    for (std::size_t level = 0; level < made.height.load(relaxed); ++level) {
        made.next[level].store(before[level]->load(relaxed), relaxed);
        before[level]->store(number, relaxed);
    }
    file.extents.fetch_add(1, relaxed);
}

void FileExtents::unlink(FileSlot& file, const Before& before, std::uint32_t number) noexcept {
    const ExtentNode& gone = node(number);
    for (std::size_t level = 0; level < gone.height.load(relaxed); ++level) {
        before[level]->store(gone.next[level].load(relaxed), relaxed);
    }
    ++unlinked_;
    file.extents.fetch_sub(1, relaxed);
    unused_.push_back(number);
}

// Removes the extents' parts in `range` for which `wanted` returns true, and appends them to
// `taken`. The caller holds the sequence lock. Returns false if no extent is left to split one.
template <class Wanted>
bool FileExtents::remove(FileSlot& file, const Extent& range, std::vector<Deposit>& taken,
                         const Wanted& wanted, Finger& finger) {
    Offset at = range.begin;
    while (at < range.end()) {
        const Before before = links_to(file, at.bytes(), finger);
        const std::uint32_t number = before[0]->load(relaxed);
        if (number == no_extent || node(number).begin.load(relaxed) >= range.end().bytes()) {
            return true;
        }
        const Deposit whole = deposit_at(node(number));
        const Deposit part = part_of(whole, range);
        at = part.extent.end();
        if (!wanted(part)) {
            continue;
        }
        const Extent head{whole.extent.begin, part.extent.begin - whole.extent.begin};
        const Extent tail{part.extent.end(), whole.extent.end() - part.extent.end()};
        if (!head.empty() && !tail.empty() && room() == 0) {
            return false;
        }
        taken.push_back(part);
        if (head.empty() && tail.empty()) {
            unlink(file, before, number);
        } else if (head.empty()) {
            const Deposit rest = part_of(whole, tail);
            node(number).begin.store(rest.extent.begin.bytes(), relaxed);
            node(number).length.store(rest.extent.length.bytes(), relaxed);
            node(number).position.store(rest.position, relaxed);
        } else {
            node(number).length.store(head.length.bytes(), relaxed);
            if (!tail.empty()) {
                link(file, links_to(file, tail.begin.bytes()), make(part_of(whole, tail)));
            }
        }
    }
    return true;
}

// The deposit must not overlap the next extent: then it would displace bytes.
bool FileExtents::extend(FileSlot& file, const Deposit& deposit, Finger& finger) noexcept {
    if (deposit.extent.begin.bytes() == 0) {
        return false;
    }
    const Before before = links_to(file, deposit.extent.begin.bytes() - 1, finger);
    const std::uint32_t number = before[0]->load(relaxed);
    if (number == no_extent || !continues(deposit_at(node(number)), deposit)) {
        return false;
    }
    const std::uint32_t next = node(number).next[0].load(relaxed);
    if (next != no_extent && node(next).begin.load(relaxed) < deposit.extent.end().bytes()) {
        return false;
    }
    node(number).length.fetch_add(deposit.extent.length.bytes(), relaxed);
    return true;
}

bool FileExtents::put(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& displaced) {
    expects(!deposit.extent.empty(), "a deposit has bytes");
    if (room() < 2) {
        return false;
    }
    const ExtentsChange changing{file};
    Finger& finger = fingers_[deposit.client % fingers_.size()];
    if (extend(file, deposit, finger)) {
        return true;
    }
    const auto any = [](const Deposit&) { return true; };
    const bool removed = remove(file, deposit.extent, displaced, any, finger);
    invariant(removed, "there is room to split one extent");
    link(file, links_to(file, deposit.extent.begin.bytes(), finger), make(deposit));
    return true;
}

bool FileExtents::take(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& taken) {
    const ExtentsChange changing{file};
    const auto same_bytes = [&](const Deposit& part) {
        const Deposit same = part_of(deposit, part.extent);
        return same.client == part.client && same.position == part.position;
    };
    Finger none;
    return remove(file, deposit.extent, taken, same_bytes, none);
}

bool FileExtents::cut(FileSlot& file, const Extent& range, std::vector<Deposit>& taken) {
    const ExtentsChange changing{file};
    Finger none;
    return remove(file, range, taken, [](const Deposit&) { return true; }, none);
}

std::optional<Deposit> FileExtents::next(const FileSlot& file, Offset at) const noexcept {
    // links_to() does not change the file; it returns links through which others do.
    const Before before = links_to(const_cast<FileSlot&>(file), at.bytes());
    const std::uint32_t number = before[0]->load(relaxed);
    if (number == no_extent) {
        return std::nullopt;
    }
    return deposit_at(node(number));
}

}  // namespace forebay::pool
