// Invariant: a descriptor's entry is cleared before its hold is dropped. A thread that finds an
// entry whose description has no holder therefore finds another entry when it looks again.
#include "pool/capture/descriptors/descriptors.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"

namespace forebay::capture {

namespace {

bool hold_unless_free(FileDescription& one) noexcept {
    std::uint32_t holders = one.holders.load(relaxed);
    while (holders != 0) {
        if (one.holders.compare_exchange_weak(holders, holders + 1, std::memory_order_acq_rel)) {
            return true;
        }
    }
    return false;
}

}  // namespace

FileDescription* DescriptorTable::make() noexcept {
    for (std::uint32_t number = 0; number < descriptions_max; ++number) {
        FileDescription& one = descriptions_[number];
        std::uint32_t nobody = 0;
        if (one.holders.load(relaxed) != 0 ||
            !one.holders.compare_exchange_strong(nobody, 1, std::memory_order_acq_rel)) {
            continue;
        }
        std::uint32_t made = made_.load(relaxed);
        while (made <= number && !made_.compare_exchange_weak(made, number + 1, relaxed)) {
        }
        one.connection.store(0, relaxed);
        one.set_file({});
        one.offset.store(0, relaxed);
        one.flags.store(0, relaxed);
        one.passes.store(false, relaxed);
        one.beside.store(false, relaxed);
        one.unused_direct.store(false, relaxed);
        one.wrote.store(false, relaxed);
        one.read_inside.store(false, relaxed);
        one.mounted.store(MountedUse::none, relaxed);
        one.shared.store(false, relaxed);
        one.moved.store(0, relaxed);
        one.below.store(0, relaxed);
        guesses_[number].ahead.emplace();
        guesses_[number].taken.store(false, relaxed);
        return &one;
    }
    return nullptr;
}

DescriptorTable::Try DescriptorTable::try_hold(int fd) noexcept {
    while (captured(fd)) {
        const std::atomic<Number>& entry = table_[static_cast<std::size_t>(fd)];
        const Number number = entry.load(std::memory_order_acquire);
        if (number != 0 && hold_unless_free(descriptions_[number - 1U])) {
            return {.held = &descriptions_[number - 1U],
                    .right = entry.load(std::memory_order_acquire) == number};
        }
    }
    return {};
}

void DescriptorTable::hold(FileDescription& held) noexcept {
    const std::uint32_t before = held.holders.fetch_add(1, std::memory_order_acq_rel);
    expects(before != 0, "a description that nobody holds may become another file's");
}

// If a description were free although somebody still uses it, another file could get it, and the
// two would share writes. So a miscounted one is never reused.
DescriptorTable::Dropped DescriptorTable::drop(FileDescription& held) noexcept {
    const std::uint32_t before = held.holders.fetch_sub(1, std::memory_order_acq_rel);
    if (before == 0) [[unlikely]] {
        held.holders.store(miscounted, std::memory_order_release);
        return Dropped::miscounted;
    }
    return before == 1 ? Dropped::free : Dropped::held;
}

FileDescription* DescriptorTable::put(int fd, FileDescription* held) noexcept {
    expects(static_cast<unsigned>(fd) < descriptors_max, "the table has a place for the number");
    const Number number = held == nullptr ? Number{0} : number_of(*held);
    int end = end_.load(relaxed);
    while (number != 0 && end <= fd &&
           !end_.compare_exchange_weak(end, fd + 1, std::memory_order_acq_rel)) {
    }
    const Number before =
        table_[static_cast<std::size_t>(fd)].exchange(number, std::memory_order_acq_rel);
    return before == 0 ? nullptr : &descriptions_[before - 1U];
}

bool DescriptorTable::take(int fd, const FileDescription& expected) noexcept {
    Number number = number_of(expected);
    return table_[static_cast<std::size_t>(fd)].compare_exchange_strong(number, 0,
                                                                        std::memory_order_acq_rel);
}

void DescriptorTable::recount() noexcept {
    for (std::uint32_t number = 0; number < made_.load(relaxed); ++number) {
        descriptions_[number].holders.store(0, relaxed);
        guesses_[number].taken.store(false, relaxed);
    }
    for (int fd = 0; fd < end(); ++fd) {
        const Number number = table_[static_cast<std::size_t>(fd)].load(relaxed);
        if (number != 0) {
            descriptions_[number - 1U].holders.fetch_add(1, relaxed);
        }
    }
}

}  // namespace forebay::capture
