// The logs of other clients that this process has mapped, to see what they have committed and to
// copy what they have deposited. Fixed tables of atomics: reads find a log without a lock.
#pragma once

#include "pool/protocol/directory.hpp"
#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::capture {

class ClientLogs {
public:
    constexpr ClientLogs() noexcept = default;
    ClientLogs(const ClientLogs&) = delete;
    ClientLogs& operator=(const ClientLogs&) = delete;
    ~ClientLogs() = default;

    // The client's log of that number (ClientSlot::log), where it is mapped; null: it is not.
    [[nodiscard]] std::byte* find(std::uint32_t client, std::uint64_t number) const noexcept;
    // More may be mapped of those that are watched.
    [[nodiscard]] bool has_room() const noexcept {
        return mapped_.load(std::memory_order_relaxed) < pool::logs_watched_max;
    }
    // By one thread at a time: this log, which may be null, in place of the one that is mapped.
    void replace(std::uint32_t client, std::uint64_t number, std::byte* fresh) noexcept;
    // By one thread at a time: unmaps those of clients that have gone.
    void drop_gone(const pool::Directory& directory) noexcept;
    // In a forked child: unmaps them all.
    void forget() noexcept;
    // Calls `look` with the begin, or null, of each piece of memory as long as a log.
    template <class Look>
    void for_each(const Look& look) const noexcept {
        for (const OtherLog& other : others_) {
            look(other.base.load(std::memory_order_relaxed));
        }
        for (const std::byte* const old : retired_) {
            look(old);
        }
    }

    // While it lives, reads are under way: the logs stay mapped.
    class Reading {
    public:
        explicit Reading(ClientLogs& logs) noexcept : count_{logs.readings_} {
            count_.fetch_add(1, std::memory_order_seq_cst);
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;
        ~Reading() { count_.fetch_sub(1, std::memory_order_release); }

    private:
        std::atomic<std::uint32_t>& count_;
    };

private:
    struct OtherLog {
        std::atomic<std::byte*> base;
        std::atomic<std::uint64_t> number;  // as in ClientSlot::log
    };
    void retire(std::byte* log) noexcept;

    std::array<OtherLog, pool::clients_max> others_{};
    std::atomic<std::size_t> mapped_{0};
    std::atomic<std::uint32_t> readings_{0};
    std::array<std::byte*, 16> retired_{};
};

}  // namespace forebay::capture
