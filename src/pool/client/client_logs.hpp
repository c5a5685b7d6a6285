// Mappings of other clients' logs in this process, by which a reader sees what they have committed
// and copies what they have deposited. The tables are fixed arrays of atomics, so that a reader
// finds a log without a lock.
#pragma once

#include "pool/protocol/directory.hpp"
#include "pool/protocol/limits.hpp"
#include "pool/protocol/log.hpp"
#include "pool/protocol/messages.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

class ClientLogs {
public:
    constexpr ClientLogs() noexcept = default;
    ClientLogs(const ClientLogs&) = delete;
    ClientLogs& operator=(const ClientLogs&) = delete;
    ~ClientLogs() = default;

    // The mapping of the log of `client`, if the log that is mapped has this `number`
    // (ClientSlot::log); null otherwise.
    [[nodiscard]] std::byte* find(std::uint32_t client, std::uint64_t number) const noexcept;
    // Whether fewer than logs_watched_max logs are mapped, so that one more may be mapped to see
    // its commits.
    [[nodiscard]] bool has_room() const noexcept {
        return mapped_.load(std::memory_order_relaxed) < logs_watched_max;
    }
    // `source` is the connection to the daemon, by which both get logs that are not mapped yet:
    //   alone()          a guard; while it exists no other thread asks, or changes these mappings
    //   fetch(question)  the memory of the log that the question asks for, mapped for reading; null
    //                    if the daemon does not give it, or if it cannot be mapped
    //   drain_all()      has the daemon drain everything
    // They are called within a Reading. `client` is another one than that of this process.

    // The log of `client`, which may have deposits in it even if it has ended. If it cannot be
    // mapped, everything is drained, because the deposits in it cannot be read.
    template <class Source>
    [[nodiscard]] Log log_of(const Directory& directory, std::uint32_t client,
                             const Source& source) noexcept {
        const std::atomic<std::uint64_t>& log = directory.clients[client].log;
        const std::uint64_t number = log.load(std::memory_order_acquire);
        std::byte* base = find(client, number);
        if (base == nullptr && number != 0) {
            base = map(directory, client, source);
            if (base == nullptr && log.load(std::memory_order_acquire) != 0) {
                source.drain_all();
            }
        }
        return Log{base};
    }
    // Whether the commits of `client` can be seen; see pool::Daemon.
    template <class Source>
    [[nodiscard]] bool sees(const Directory& directory, std::uint32_t client,
                            const Source& source) noexcept {
        const std::uint64_t number = directory.clients[client].log.load(std::memory_order_acquire);
        if (number == 0 || find(client, number) != nullptr) {
            return true;
        }
        if (!has_room()) {
            [[maybe_unused]] const auto guard = source.alone();
            drop_gone(directory);
        }
        return has_room() && map(directory, client, source) != nullptr;
    }
    // Puts the mapping `fresh` (may be null) in place of the one that `client` had. Returns it;
    // null if so many old mappings may still be read that this one could not be kept for later:
    // `fresh` is unmapped then. Called by one thread at a time, within a Reading.
    [[nodiscard]] std::byte* replace(std::uint32_t client, std::uint64_t number,
                                     std::byte* fresh) noexcept;
    // Unmaps logs of clients that have ended. Called by one thread at a time, within a Reading.
    void drop_gone(const Directory& directory) noexcept;
    // Unmaps all logs: nobody reads them any more, or this is a forked child, in which they are its
    // parent's.
    void forget() noexcept;
    // Calls `look` with the first byte of each mapping of LogShape::bytes bytes, or with null for
    // an empty place of the tables.
    template <class Look>
    void for_each(const Look& look) const noexcept {
        for (const OtherLog& other : others_) {
            look(other.base.load(std::memory_order_relaxed));
        }
        for (const std::byte* const old : retired_) {
            look(old);
        }
    }

    // RAII guard around a read: while it exists, no log is unmapped.
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
    [[nodiscard]] bool retire(std::byte* log) noexcept;
    template <class Source>
    [[nodiscard]] std::byte* map(const Directory& directory, std::uint32_t client,
                                 const Source& source) noexcept {
        protocol::ClientQuestion question;
        question.ask = protocol::QuestionKind::log;
        question.number = client;
        [[maybe_unused]] const auto guard = source.alone();
        const std::uint64_t number = directory.clients[client].log.load(std::memory_order_acquire);
        if (std::byte* const base = find(client, number)) {
            return base;  // another thread was first
        }
        return replace(client, number, source.fetch(question));
    }

    std::array<OtherLog, clients_max> others_{};
    std::atomic<std::size_t> mapped_{0};
    std::atomic<std::uint32_t> readings_{0};
    std::array<std::byte*, 16> retired_{};  // to be unmapped when nobody else reads
};

}  // namespace forebay::pool
