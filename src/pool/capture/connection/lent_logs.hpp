// Logs that are lent between processes of a node, by name: this process' own, and those of others
// that are mapped here for writing. The table of mappings is changed under QuestionLock only.
#pragma once

#include "pool/client/shared_mapping.hpp"
#include "pool/protocol/log.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::capture {

class LentLogs {
public:
    constexpr LentLogs() noexcept = default;
    LentLogs(const LentLogs&) = delete;
    LentLogs& operator=(const LentLogs&) = delete;
    ~LentLogs() = default;

    // The name under which this process' log is lent; 0: it is not lent.
    [[nodiscard]] std::uint64_t own_name() const noexcept {
        return own_name_.load(std::memory_order_acquire);
    }
    void set_own_name(std::uint64_t name) noexcept {
        own_name_.store(name, std::memory_order_release);
    }
    // The mapping of the log of that name; null if it is not mapped.
    [[nodiscard]] std::byte* find(std::uint64_t name) const noexcept {
        for (const LentLog& one : logs_) {
            if (one.name == name) {
                return one.base;
            }
        }
        return nullptr;
    }
    [[nodiscard]] bool has_room() const noexcept { return logs_.back().name == 0; }
    // Precondition: has_room().
    void add(std::uint64_t name, std::byte* base) noexcept {
        for (LentLog& one : logs_) {
            if (one.name == 0) {
                one = {.name = name, .base = base};
                return;
            }
        }
    }
    // Called in a forked child: unmaps all lent logs.
    void forget() noexcept {
        for (LentLog& one : logs_) {
            pool::unmapped(one.base, pool::LogShape::bytes);
            one = {};
        }
        own_name_.store(0, std::memory_order_relaxed);
    }
    // Calls `look` with the first byte of each mapping, or with null for an empty place of the
    // table.
    template <class Look>
    void for_each(const Look& look) const noexcept {
        for (const LentLog& one : logs_) {
            look(one.base);
        }
    }

private:
    struct LentLog {
        std::uint64_t name = 0;
        std::byte* base = nullptr;
    };
    static constexpr std::size_t logs_max = 64;

    std::atomic<std::uint64_t> own_name_{0};
    std::array<LentLog, logs_max> logs_{};
};

}  // namespace forebay::capture
