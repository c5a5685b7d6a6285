// The table of mapped logs, and the deferred unmapping of those that a reader may still copy from.
#include "pool/client/client_logs.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/client/shared_mapping.hpp"
#include "pool/protocol/log.hpp"

#include <utility>

namespace forebay::pool {

// `base` is read before and after `number`, so that the two belong together although another thread
// may replace them meanwhile. A reader counts itself before it loads `base`, and retire() looks at
// the count after `base` was cleared, all in one order (seq_cst): so a reader that was not counted
// does not find the log that is unmapped.
std::byte* ClientLogs::find(std::uint32_t client, std::uint64_t number) const noexcept {
    const OtherLog& other = others_[client];
    std::byte* const base = other.base.load(std::memory_order_seq_cst);
    const bool same = base != nullptr && other.number.load(std::memory_order_acquire) == number &&
                      other.base.load(relaxed) == base;
    return same ? base : nullptr;
}

std::byte* ClientLogs::replace(std::uint32_t client, std::uint64_t number,
                               std::byte* fresh) noexcept {
    OtherLog& other = others_[client];
    std::byte* const base = other.base.load(relaxed);
    if (base != nullptr && !retire(base)) {
        unmapped(fresh, LogShape::bytes);
        return nullptr;
    }
    mapped_.fetch_add(fresh != nullptr ? 1 : 0, relaxed);
    mapped_.fetch_sub(base != nullptr ? 1 : 0, relaxed);
    other.base.store(nullptr, std::memory_order_seq_cst);
    other.number.store(number, std::memory_order_release);
    other.base.store(fresh, std::memory_order_release);
    return fresh;
}

void ClientLogs::drop_gone(const Directory& directory) noexcept {
    for (std::size_t client = 0; client < others_.size(); ++client) {
        OtherLog& other = others_[client];
        std::byte* const base = other.base.load(relaxed);
        const ClientSlot& slot = directory.clients[client];
        const bool gone = base != nullptr && (slot.used.load(std::memory_order_acquire) == 0 ||
                                              slot.log.load(relaxed) != other.number.load(relaxed));
        if (gone && retire(base)) {
            other.base.store(nullptr, std::memory_order_seq_cst);
            mapped_.fetch_sub(1, relaxed);
        }
    }
}

void ClientLogs::forget() noexcept {
    mapped_.store(0, relaxed);
    for (OtherLog& other : others_) {
        // Most places are empty: reading them leaves the page shared with the parent.
        if (other.base.load(relaxed) != nullptr) {
            unmapped(other.base.exchange(nullptr, relaxed), LogShape::bytes);
        }
    }
    for (std::byte*& old : retired_) {
        unmapped(std::exchange(old, nullptr), LogShape::bytes);
    }
    readings_.store(0, relaxed);
}

// Unmaps `log` later: a thread may still copy from it. Logs retired before are unmapped here if no
// thread but the caller is reading. False: too many still wait for that.
bool ClientLogs::retire(std::byte* log) noexcept {
    for (std::byte*& old : retired_) {
        if (old != nullptr && readings_.load(std::memory_order_seq_cst) <= 1) {
            kernel::munmap(old, LogShape::bytes);
            old = nullptr;
        }
        if (old == nullptr && log != nullptr) {
            old = std::exchange(log, nullptr);
        }
    }
    return log == nullptr;
}

}  // namespace forebay::pool
