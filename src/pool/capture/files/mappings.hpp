// Memory mappings (mmap) of captured files: each part of one holds its file description, so that
// the file stays written through until all of it is unmapped.
#pragma once

#include "pool/capture/descriptors/descriptors.hpp"
#include "pool/capture/processes/inside_call.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sched.h>

namespace forebay::capture {

class FileMappings {
public:
    static constexpr std::size_t mappings_max = 1024;

    // Addresses, in whole pages; `end` is one past the last byte.
    struct Range {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
    };

private:
    struct Mapping {
        Range range;
        FileDescription* held = nullptr;
        std::uint64_t number = 0;
    };
    static bool is_empty(Range one) noexcept { return one.begin >= one.end; }
    static bool overlap(Range one, Range other) noexcept {
        return !is_empty(other) && one.begin < other.end && other.begin < one.end;
    }

public:
    // Descriptions that are not mapped any more.
    struct Dropped {
        std::array<FileDescription*, 64> held{};
        std::size_t count = 0;
    };

    // RAII: nobody else changes the table meanwhile. No memory may be mapped or unmapped: a library
    // that has patched libc's functions may take locks there.
    class Change {
    public:
        explicit Change(FileMappings& all) noexcept : all_{all} {
            while (all_.changing_.exchange(true, std::memory_order_acquire)) {
                ::sched_yield();  // the holder may have been preempted
            }
        }
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;
        ~Change() { all_.changing_.store(false, std::memory_order_release); }

        // Remembers that `held` is mapped there, and takes over the caller's hold. If the table is
        // full, the hold is never dropped, so the file stays open until the process ends.
        void add(Range range, FileDescription& held) noexcept {
            if (Mapping* const free = find_free()) {
                const std::uint64_t number = all_.added_.fetch_add(1, std::memory_order_acq_rel);
                *free = {.range = range, .held = &held, .number = number};
                all_.count_.fetch_add(1, std::memory_order_release);
            }
        }
        // Forgets what lies in the range, of the mappings with a number below `end`: another thread
        // may have mapped a file there since it was unmapped. The holds of mappings of which
        // nothing is left go to `dropped`, for the caller to drop; mappings that find no room there
        // are not forgotten.
        void remove(Range gone, std::uint64_t end, Dropped& dropped) noexcept {
            for (Mapping& one : all_.all_) {
                if (one.held == nullptr || one.number >= end || !overlap(one.range, gone)) {
                    continue;
                }
                const Range before{one.range.begin, std::max(gone.begin, one.range.begin)};
                const Range behind{std::min(gone.end, one.range.end), one.range.end};
                if (!is_empty(before)) {
                    one.range = before;
                    if (!is_empty(behind)) {
                        DescriptorTable::hold(*one.held);
                        add(behind, *one.held);
                    }
                } else if (!is_empty(behind)) {
                    one.range = behind;
                } else if (dropped.count < dropped.held.size()) {
                    dropped.held[dropped.count++] = one.held;
                    one = {};
                    all_.count_.fetch_sub(1, std::memory_order_release);
                }
            }
        }
        // The description that is mapped at the address; null: none of ours.
        [[nodiscard]] FileDescription* at(std::uintptr_t address) const noexcept {
            const auto found =
                std::ranges::find_if(all_.all_, [address](const Mapping& one) noexcept {
                    return one.held != nullptr && overlap(one.range, {address, address + 1});
                });
            return found != all_.all_.end() ? found->held : nullptr;
        }

    private:
        Mapping* find_free() noexcept {
            const auto found = std::ranges::find(all_.all_, nullptr, &Mapping::held);
            return found != all_.all_.end() ? &*found : nullptr;
        }

        BlockedSignals until_changed_;  // a handler may unmap memory, too
        FileMappings& all_;
    };

    constexpr FileMappings() noexcept = default;
    FileMappings(const FileMappings&) = delete;
    FileMappings& operator=(const FileMappings&) = delete;
    ~FileMappings() = default;

    // The number of the next mapping.
    [[nodiscard]] std::uint64_t added() const noexcept {
        return added_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool none() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
    // In a forked child: recount() has counted no holds of mappings, so they are forgotten.
    void forget() noexcept {
        changing_.store(false, std::memory_order_relaxed);
        if (count_.exchange(0, std::memory_order_relaxed) != 0) {
            all_.fill({});
        }
    }

private:
    std::array<Mapping, mappings_max> all_{};
    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> added_{0};
    std::atomic<bool> changing_{false};  // a spin lock
};

}  // namespace forebay::capture
