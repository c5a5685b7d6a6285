// Taking the clients' logs, in rounds: read the time, look at all logs, take what was committed and
// began before that time, in the order of time (docs/internals/pool.md). Everything in a log is
// input.
#pragma once

#include "pool/core/prefetch/prefetch.hpp"
#include "pool/core/state/pool_state.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace forebay::pool {

class LogIngest {
public:
    LogIngest(PoolState& pool_state, BlockPrefetcher& fetch)
        : pool_state_{pool_state}, fetch_{fetch} {}

    // True when anything was taken.
    bool run_once();
    // Sealed logs: takes what is committed, and revokes all else at once.
    void refuse_all();
    // Every entry of every sealed log is taken, or will never be committed.
    [[nodiscard]] bool all_taken() const;
    // No entry is about to be committed.
    [[nodiscard]] bool idle() const;
    // Writes that the pool did not wait for while it closed down, since the last call.
    [[nodiscard]] std::vector<GivenUpWrite> take_given_up() { return std::exchange(given_up_, {}); }

private:
    // A committed entry as it was when it was looked at: its client may change it afterwards.
    struct Item {
        std::int64_t time_ns = 0;
        std::uint32_t client = 0;
        std::uint64_t number = 0;
        std::uint32_t slot = 0;
        std::uint32_t generation = 0;
        std::int64_t offset = 0;
        std::uint64_t position = 0;
        std::uint32_t length = 0;
        EntryKind kind = EntryKind::deposit;
        std::int64_t waited_ns = 0;
    };

    void look_at(Client& client);
    void give_up_stuck(Client& client);
    [[nodiscard]] bool look_at_entry(Client& client, OpenEntry& open);
    [[nodiscard]] bool takes_too_long(const Client& client, const Item& item) const;
    void give_up(const Client& client, const Item& item);
    struct Swept {
        bool revoked = false;    // something was
        bool committed = false;  // something is, and not taken yet
    };
    [[nodiscard]] Swept sweep(Client& client);
    void note_reserved(std::uint32_t number, const Item& item);
    static Item read(const Entry& entry);
    [[nodiscard]] bool sensible(const Client& client) const;
    [[nodiscard]] bool take(const Item& item);
    [[nodiscard]] bool deposit(const Item& item);
    void record_deposit(PooledFile& file, const Item& item);
    [[nodiscard]] bool abandon(Client& client, const Item& item);
    void put_back(const Item& item);
    void publish(Client& client);
    // Nothing of its log can be committed any more.
    [[nodiscard]] static bool over(const Client& client);

    PoolState& pool_state_;
    BlockPrefetcher& fetch_;
    std::int64_t cutoff_ns_ = 0;
    std::int64_t calendar_ns_ = 0;
    std::vector<Item> items_;
    std::vector<Deposit> displaced_;
    std::vector<GivenUpWrite> given_up_;
};

}  // namespace forebay::pool
