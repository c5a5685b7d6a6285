// The clients of the pool: admits them under numbers, seals their logs, distrusts those whose log
// is malformed, and tells when they have departed. Numbers are given out round-robin, so that a
// process that waits for a client that has gone does not mistake the next one for it.
//
//   admit ─▶ here ──dismiss──▶ leaving ──end_log──▶ gone ──release_departed──▶ departed ─▶ free
//             └──distrust──▶ distrusted ──dismiss──▲          (holds nothing any more)
#pragma once

#include "pool/core/ports.hpp"
#include "pool/core/state/client.hpp"
#include "pool/core/types.hpp"
#include "pool/protocol/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <vector>

namespace forebay::pool {

class PoolClients {
public:
    // All arguments outlive this object.
    PoolClients(Directory& directory, const ports::TimeSource& clock, WordSleepers& sleepers,
                PoolCounts& counts)
        : directory_{directory}, clock_{clock}, sleepers_{sleepers}, counts_{counts} {}

    // Returns the number of the new client; nullopt: there are clients_max already.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // nullptr: no client has this number.
    [[nodiscard]] Client* find(std::uint32_t number) const noexcept;
    // Contract: a client has this number. For numbers that the pool itself has kept.
    [[nodiscard]] Client& at(std::uint32_t number) const noexcept;
    [[nodiscard]] ClientSlot& slot_of(const Client& client) const noexcept;
    // All clients but those that have departed, in the order in which they were admitted.
    [[nodiscard]] auto admitted() const noexcept {
        return std::views::transform(admitted_, [](Client* one) -> Client& { return *one; });
    }
    [[nodiscard]] std::size_t count() const noexcept { return admitted_.size(); }
    // Whether half of the numbers are in use, some of them by clients that have gone: draining what
    // these left behind makes numbers free.
    [[nodiscard]] bool is_short() const noexcept;

    // The client's log is malformed: takes nothing more from it.
    void distrust(Client& client);
    // The client's process has ended: what it committed is still to be taken.
    void dismiss(Client& client);
    // Everything that a dismissed client committed is taken.
    void end_log(Client& client);
    // Makes clients depart that have gone and whose logs hold nothing any more. Returns true if one
    // did.
    bool release_departed();
    // If the client has departed, makes its number free and returns true. Also true if there is no
    // such client.
    [[nodiscard]] bool forget_departed(std::uint32_t number);
    // Seals all logs, including those of clients that are admitted later: no entry is begun any
    // more. Called after all files have begun to leave, so that what is not taken goes to the file
    // system.
    void seal_all();
    // Seals the log of one client. Called after all files that it writes to have begun to leave.
    void seal(Client& client);

    // Wakes the clients that sleep on words that have changed in this round.
    void wake_notified();
    // At the end: publishes that all commits are taken and durable, and wakes all clients.
    void release_waiters();

private:
    // Tells the client, by the directory, that the daemon ignores what it commits from now on.
    void stop_listening(Client& client);

    Directory& directory_;
    const ports::TimeSource& clock_;
    WordSleepers& sleepers_;
    PoolCounts& counts_;
    std::array<std::unique_ptr<Client>, clients_max> clients_;
    std::vector<Client*> admitted_;  // those that have not departed
    std::uint32_t next_ = 0;         // the number to try first
    std::uint64_t admissions_ = 0;
    bool seals_ = false;
};

}  // namespace forebay::pool
