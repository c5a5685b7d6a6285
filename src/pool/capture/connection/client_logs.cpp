// The table of mapped logs, and the deferred unmapping of those that a reader may still copy from.
#include "pool/capture/connection/client_logs.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/capture/connection/shared_mapping.hpp"
#include "pool/protocol/log.hpp"

#include <utility>

namespace forebay::capture {

// `base` is read before and after `number`, so that the two belong together although another thread
// may replace them meanwhile.
std::byte* ClientLogs::find(std::uint32_t client, std::uint64_t number) const noexcept {
    const OtherLog& other = others_[client];
    std::byte* const base = other.base.load(std::memory_order_acquire);
    const bool same = base != nullptr && other.number.load(std::memory_order_acquire) == number &&
                      other.base.load(relaxed) == base;
    return same ? base : nullptr;
}

void ClientLogs::replace(std::uint32_t client, std::uint64_t number, std::byte* fresh) noexcept {
    OtherLog& other = others_[client];
    std::byte* const base = other.base.load(relaxed);
    mapped_.fetch_add(fresh != nullptr ? 1 : 0, relaxed);
    if (base != nullptr) {
        mapped_.fetch_sub(1, relaxed);
        retire(base);
    }
    other.base.store(nullptr, relaxed);
    other.number.store(number, std::memory_order_release);
    other.base.store(fresh, std::memory_order_release);
}

void ClientLogs::drop_gone(const pool::Directory& directory) noexcept {
    for (std::size_t client = 0; client < others_.size(); ++client) {
        OtherLog& other = others_[client];
        std::byte* const base = other.base.load(relaxed);
        const pool::ClientSlot& slot = directory.clients[client];
        if (base != nullptr && (slot.used.load(std::memory_order_acquire) == 0 ||
                                slot.log.load(relaxed) != other.number.load(relaxed))) {
            other.base.store(nullptr, std::memory_order_release);
            mapped_.fetch_sub(1, relaxed);
            retire(base);
        }
    }
}

void ClientLogs::forget() noexcept {
    mapped_.store(0, relaxed);
    for (OtherLog& other : others_) {
        // Most places are empty: reading them leaves the page shared with the parent.
        if (other.base.load(relaxed) != nullptr) {
            unmapped(other.base.exchange(nullptr, relaxed), pool::LogShape::bytes);
        }
    }
    for (std::byte*& old : retired_) {
        unmapped(std::exchange(old, nullptr), pool::LogShape::bytes);
    }
    readings_.store(0, relaxed);
}

// Unmaps `log` later: a thread may still copy from it. Logs retired before are unmapped here if no
// thread but the caller is reading.
void ClientLogs::retire(std::byte* log) noexcept {
    for (std::byte*& old : retired_) {
        if (old != nullptr && readings_.load(std::memory_order_seq_cst) <= 1) {
            kernel::munmap(old, pool::LogShape::bytes);
            old = nullptr;
        }
        if (old == nullptr && log != nullptr) {
            old = std::exchange(log, nullptr);
        }
    }
}

}  // namespace forebay::capture
