// The clients of the pool: who is admitted under which number, whose log is sealed or distrusted,
// and who has departed. A number is given again only when all others were: a process that waits for
// a client that has gone does not take the next one for it.
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
    // All of it outlives this.
    PoolClients(Directory& directory, const ports::TimeSource& clock, WordSleepers& sleepers,
                PoolCounts& counts)
        : directory_{directory}, clock_{clock}, sleepers_{sleepers}, counts_{counts} {}

    // Its number; nullopt: there are clients_max already.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // nullptr: there is no such client.
    [[nodiscard]] Client* find(std::uint32_t number) const noexcept;
    // Contract: there is such a client. For numbers that the pool itself has kept.
    [[nodiscard]] Client& at(std::uint32_t number) const noexcept;
    [[nodiscard]] ClientSlot& slot_of(const Client& client) const noexcept;
    // Clients that are not departed, in the order in which they were admitted.
    [[nodiscard]] auto admitted() const noexcept {
        return std::views::transform(admitted_, [](Client* one) -> Client& { return *one; });
    }
    [[nodiscard]] std::size_t count() const noexcept { return admitted_.size(); }
    // Numbers are getting short, and some will be free once what their clients left is drained.
    [[nodiscard]] bool is_short() const noexcept;

    // The client's log makes no sense: nothing more is taken from it.
    void distrust(Client& client);
    // The client has gone: what it committed is still to be taken.
    void dismiss(Client& client);
    // Everything that the client committed is taken.
    void end_log(Client& client);
    // Clients that have gone, and whose logs hold nothing any more, depart. True: one did.
    bool release_departed();
    // Its number is free from then on. True also where there is no such client.
    [[nodiscard]] bool forget_departed(std::uint32_t number);
    // No log takes anything more, nor does that of a client that is admitted later. After all files
    // have begun to leave: what is not taken goes to the file system.
    void seal_all();
    // The same for one client. After all files that it has open have begun to leave.
    void seal(Client& client);

    // Wakes those who sleep on what has changed.
    void wake_notified();
    // At the end: whatever clients wait for has happened.
    void release_waiters();

private:
    void stop_listening(Client& client);

    Directory& directory_;
    const ports::TimeSource& clock_;
    WordSleepers& sleepers_;
    PoolCounts& counts_;
    std::array<std::unique_ptr<Client>, clients_max> clients_;
    std::vector<Client*> admitted_;  // not departed
    std::uint32_t next_ = 0;         // number, if it is free
    std::uint64_t admissions_ = 0;
    bool seals_ = false;
};

}  // namespace forebay::pool
