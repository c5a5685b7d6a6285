// Takes the clients' logs, in rounds: reads the time (the cutoff), looks at all logs, and takes the
// entries that were committed and began before the cutoff, ordered by the time when they began
// (docs/internals/pool.md). Everything in a log is untrusted input.
#pragma once

#include "pool/core/ingest/file_time.hpp"
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

    // One round. Returns true if it took anything.
    bool run_once();
    // Takes what is committed in sealed logs, and revokes all other entries at once.
    void refuse_all();
    // Whether every log is sealed, and each of its entries is taken, or can never be committed.
    [[nodiscard]] bool all_taken() const;
    // Whether no client is about to commit an entry.
    [[nodiscard]] bool idle() const;
    // See Pool::given_up().
    [[nodiscard]] std::vector<GivenUpWrite> take_given_up() { return std::exchange(given_up_, {}); }

private:
    // A copy of a committed entry, made when it was looked at: its client may change the entry
    // afterwards.
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
    // Whether others wait for a reserved entry that has been begun too long ago.
    [[nodiscard]] bool takes_too_long(const Client& client, const Item& item) const;
    void give_up(const Client& client, const Item& item);
    struct Swept {
        bool revoked = false;    // an entry was revoked
        bool committed = false;  // an entry is committed and not taken yet
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
    // Whether no entry of the client's log can be committed any more.
    [[nodiscard]] static bool over(const Client& client);

    PoolState& pool_state_;
    BlockPrefetcher& fetch_;
    std::int64_t cutoff_ns_ = 0;  // cutoff of this round, CLOCK_MONOTONIC
    FileTimes file_times_;        // for st_mtime
    std::vector<Item> items_;     // entries to be taken in this round
    std::vector<Deposit> displaced_;
    std::vector<GivenUpWrite> given_up_;
};

}  // namespace forebay::pool
