// Memory mappings (mmap) of captured files: each holds its file description, so that the file stays
// written through until it is unmapped.
#pragma once

#include "pool/capture/descriptors/descriptors.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace forebay::capture {

class FileMappings {
public:
    static constexpr std::size_t mappings_max = 1024;

    constexpr FileMappings() noexcept = default;
    FileMappings(const FileMappings&) = delete;
    FileMappings& operator=(const FileMappings&) = delete;
    ~FileMappings() = default;

    // Remembers that `held` is mapped at `at`, and takes over the caller's hold. If the table is
    // full, the hold is never dropped, so the file stays open until the process ends.
    void add(const void* at, FileDescription& held) noexcept {
        for (Mapping& one : all_) {
            const void* none = nullptr;
            if (one.held.load(std::memory_order_relaxed) == nullptr &&
                one.at.compare_exchange_strong(none, at, std::memory_order_acq_rel)) {
                one.held.store(&held, std::memory_order_release);
                count_.fetch_add(1, std::memory_order_release);
                return;
            }
        }
    }
    // Forgets the mapping that begins at `at`. Returns its description, for the caller to drop;
    // null if no mapping of ours begins there.
    [[nodiscard]] FileDescription* remove(const void* at) noexcept {
        if (count_.load(std::memory_order_acquire) == 0) {
            return nullptr;
        }
        for (Mapping& one : all_) {
            if (one.at.load(std::memory_order_acquire) != at) {
                continue;
            }
            FileDescription* const held = one.held.exchange(nullptr, std::memory_order_acq_rel);
            if (held != nullptr) {
                one.at.store(nullptr, std::memory_order_release);
                count_.fetch_sub(1, std::memory_order_release);
                return held;
            }
        }
        return nullptr;
    }
    // In a forked child: recount() has counted no holds of mappings, so they are forgotten.
    void forget() noexcept {
        if (count_.exchange(0, std::memory_order_relaxed) == 0) {
            return;
        }
        for (Mapping& one : all_) {
            one.held.store(nullptr, std::memory_order_relaxed);
            one.at.store(nullptr, std::memory_order_relaxed);
        }
    }

private:
    struct Mapping {
        std::atomic<const void*> at;
        std::atomic<FileDescription*> held;
    };
    std::array<Mapping, mappings_max> all_{};
    std::atomic<std::size_t> count_{0};
};

}  // namespace forebay::capture
