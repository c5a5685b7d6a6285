// Mapped files of the pool: they stay written through until they are unmapped.
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

    // Takes over the caller's hold. Where there is no room, the file stays open until the end.
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
    // The description held for the range's beginning, for the caller to drop; null: it is not
    // known.
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
    // In a forked child: the holds were the parent's.
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
