// The life of a client, as the diagram in the header shows it.
#include "pool/core/state/clients.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/state/waking.hpp"

#include <algorithm>
#include <utility>

namespace forebay::pool {

std::optional<std::uint32_t> PoolClients::admit(std::uint64_t process, Log log) {
    for (std::size_t tried = 0; tried < clients_max; ++tried) {
        const std::uint32_t number = next_;
        next_ = (next_ + 1) % clients_max;
        if (clients_[number]) {
            continue;
        }
        clients_[number] = std::make_unique<Client>(number, process, log);
        ClientSlot& slot = directory_.clients[number];
        slot.commits.store(0, relaxed);
        slot.entries.store(0, relaxed);
        slot.credit.store(0, relaxed);
        slot.durable.store(0, relaxed);
        slot.admission.store(++admissions_, relaxed);
        slot.log.fetch_add(1, std::memory_order_release);
        slot.used.store(process, std::memory_order_release);
        admitted_.push_back(clients_[number].get());
        ensures(admitted_.size() <= clients_max, "no more clients are admitted than have a number");
        if (seals_) {
            seal(*clients_[number]);
        }
        return number;
    }
    return std::nullopt;
}

Client* PoolClients::find(std::uint32_t number) const noexcept {
    return number < clients_max ? clients_[number].get() : nullptr;
}

Client& PoolClients::at(std::uint32_t number) const noexcept {
    expects(number < clients_max && clients_[number], "the client is known");
    return *clients_[number];
}

ClientSlot& PoolClients::slot_of(const Client& client) const noexcept {
    return directory_.clients[client.number()];
}

bool PoolClients::is_short() const noexcept {
    return admitted_.size() >= clients_max / 2 &&
           std::ranges::any_of(admitted_, [](const Client* one) {
               return one->standing() == Client::Standing::gone;
           });
}

// Called before the last look at the client's log. A client looks at `admission` after it has
// committed: so either the daemon sees the commit, or the client sees that the daemon does not
// listen.
void PoolClients::stop_listening(Client& client) {
    slot_of(client).admission.store(0, std::memory_order_seq_cst);
    client.notify();
    client.notify_synced();
}

void PoolClients::seal(Client& client) {
    if (!client.seal_) {
        const std::uint64_t numbers =
            client.log_.header().entries.fetch_or(log_sealed, std::memory_order_seq_cst) &
            ~log_sealed;
        client.seal_ = Client::Seal{.since_ns = clock_.now_ns(), .numbers = numbers};
        client.notify();  // a thread that waits for a place in the ring need not wait any more
    }
}

void PoolClients::seal_all() {
    seals_ = true;
    for (Client* const client : admitted_) {
        seal(*client);
    }
}

void PoolClients::distrust(Client& client) {
    if (client.is_here()) {
        client.standing_ = Client::Standing::distrusted;
        ++counts_.distrusted;
        stop_listening(client);
    }
}

void PoolClients::dismiss(Client& client) {
    if (client.standing_ <= Client::Standing::distrusted) {
        stop_listening(client);
        client.standing_ = Client::Standing::dismissed;
    }
}

void PoolClients::end_log(Client& client) {
    expects(client.standing_ == Client::Standing::dismissed, "the client was dismissed");
    expects(client.ingest.open.empty(), "no entry of its log is left to be taken");
    expects(client.files_written_ == 0, "all of its files are closed");
    client.standing_ = Client::Standing::gone;
    client.blocks.close();
    slot_of(client).commits.store(all_commits, std::memory_order_release);
    client.notify();
}

bool PoolClients::release_departed() {
    return std::erase_if(admitted_, [&](Client* client) {
               if (client->standing_ != Client::Standing::gone || client->progressed_ ||
                   client->blocks.provided() > 0) {
                   return false;
               }
               client->standing_ = Client::Standing::departed;
               slot_of(*client).used.store(0, std::memory_order_release);
               return true;
           }) > 0;
}

bool PoolClients::forget_departed(std::uint32_t number) {
    const Client* const client = find(number);
    if (client != nullptr && client->standing_ == Client::Standing::departed) {
        invariant(client->blocks.provided() == 0, "a client that has departed holds no memory");
        clients_[number].reset();
        return true;
    }
    return client == nullptr;
}

// There are two words because a client that waits for the journal would else be woken by every
// round that takes its commits.
void PoolClients::wake_notified() {
    for (Client* const client : admitted_) {
        ClientSlot& slot = slot_of(*client);
        if (std::exchange(client->synced_, false)) {
            change_and_wake(sleepers_, slot.synced);
        }
        if (std::exchange(client->progressed_, false)) {
            change_and_wake(sleepers_, slot.progress);
        }
    }
}

void PoolClients::release_waiters() {
    for (const Client* const client : admitted_) {
        ClientSlot& slot = slot_of(*client);
        slot.commits.store(all_commits, std::memory_order_release);
        slot.durable.store(all_commits, std::memory_order_release);
        change_and_wake(sleepers_, slot.progress);
        change_and_wake(sleepers_, slot.synced);
    }
}

}  // namespace forebay::pool
