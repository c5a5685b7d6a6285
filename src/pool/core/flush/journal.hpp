// WriteDurability::node: everything that the pool takes is also written to a journal (a write-ahead
// log) on a device that outlives the node, and is acknowledged when it is durable there. Records
// are written in groups, one group after the other (group commit): what comes while one is written
// makes up the next. A record can be let go when the file durably has its bytes
// (docs/internals/pool.md, docs/decisions/0022-a-journal-of-deposits.md).
//
//   taken ─▶ queue ─▶ group ─▶ device ─▶ durable: clients are told
//                       ▲
//   may_change, settled ┘
#pragma once

#include "pool/core/ports.hpp"
#include "pool/core/types.hpp"
#include "pool/journal/format/replay_plan.hpp"
#include "pool/journal/journal_writer.hpp"
#include "pool/protocol/search.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace forebay::pool {

class Client;
class PoolState;
struct PooledFile;

class Journal {
public:
    // `writer` outlives this object. Null: there is no journal, and everything here behaves as if
    // all were durable at once.
    Journal(PoolState& pool_state, JournalWriter* writer)
        : pool_state_{pool_state}, writer_{writer} {}

    [[nodiscard]] bool asked() const noexcept { return writer_ != nullptr; }
    // Whether there is a journal whose device has not failed.
    [[nodiscard]] bool kept() const noexcept { return asked() && error_ == 0; }
    // errno of the journal's device, since which everything is written through; 0: it has not
    // failed.
    [[nodiscard]] int error() const noexcept { return error_; }
    // Whether the journal is nearly full of records that files do not have yet: files are to be
    // drained.
    [[nodiscard]] bool pressed() const noexcept { return kept() && full_; }
    // Whether a client waits for a group: work for which nobody waits shall not delay the next
    // group.
    [[nodiscard]] bool waited_for() const noexcept { return kept() && waiting_ > 0; }

    // Queues a deposit, the newest bytes of the file, and pins its block until it is in a group.
    void append(PooledFile& file, const Deposit& deposit);
    // Queues a truncation to `bytes`. Deposits beyond that, which are newer, are queued once more.
    void cut(PooledFile& file, Length bytes);
    // The file's length and times were looked at; they may show that others have changed the file.
    void seen(PooledFile& file, const ChangeStamp& stamp);
    // Whether the pool may change the file on the file system now: the journal durably says that it
    // may. False: the journal is about to say so; ask again in a later round.
    [[nodiscard]] bool may_change(PooledFile& file);

    // Whether an fsync of the file is due, which lets the file's records go.
    [[nodiscard]] bool wants_sync(const PooledFile& file) const;
    // An fsync begins. Returns the number of the last record that it settles, to be passed to
    // synced().
    [[nodiscard]] std::uint64_t begin_sync(PooledFile& file);
    // The fsync has succeeded. `stamp`: the file's times; nullopt: the file system did not tell.
    void synced(PooledFile& file, std::uint64_t through, const std::optional<ChangeStamp>& stamp);
    void sync_failed(PooledFile& file);
    // The file's records are not needed: the file has no name any more, or is kept elsewhere,
    // durably.
    void drop(PooledFile& file);
    // Whether a replay would write nothing to the file.
    [[nodiscard]] bool nothing_of(const PooledFile& file) const;

    // The number of entries queued so far, for is_durable() and is_proven().
    [[nodiscard]] std::uint64_t so_far() const noexcept { return entered_; }
    [[nodiscard]] bool is_durable(std::uint64_t entered) const noexcept {
        return !kept() || durable_ >= entered;
    }
    // Whether the first `entered` entries are durable and the journal's head knows it: if the
    // device loses one of them, a replay then refuses instead of taking what is left for
    // everything. False: the head is about to be written.
    [[nodiscard]] bool is_proven(std::uint64_t entered) noexcept {
        const bool proven = !kept() || proven_ >= entered;
        head_wanted_ = head_wanted_ || (!proven && is_durable(entered));
        return proven;
    }
    // The first `commits` commits of the client are taken.
    void note_commits(Client& client, std::uint64_t commits);

    // One round. Returns true if it did anything.
    bool run_once();
    // At the end, when nothing more will be queued: waits for the device. Returns true if nothing
    // is left that a replay would write.
    bool finish();

private:
    struct Entry {
        std::uint32_t slot = files_max;  // files_max: the entry was dropped
        bool cuts = false;
        Deposit deposit;
        Length length{};  // for `cuts`: the new length of the file
    };

    // Takes completions of the device.
    bool collect();
    // The device has failed: every file leaves.
    void fail(int error);
    // After a failure: wakes the clients that wait once the files themselves are durable.
    void release();
    // Tells clients how many of their commits are durable.
    void publish();
    // Moves entries from the queue to the group that is being filled.
    bool gather();
    [[nodiscard]] bool enter(const Entry& entry);
    // Adds a record with the file's identity and path; records of a file refer to it.
    void introduce(PooledFile& file, std::uint64_t number);
    // Adds a record that says: records of the file up to `through` are not needed.
    void settle(PooledFile& file, std::uint64_t through, const std::optional<ChangeStamp>& stamp);
    void start();
    void tend_head();
    void note_unproven();
    void count_who_waits();
    [[nodiscard]] bool fresh() const;
    [[nodiscard]] bool outlived() const;
    [[nodiscard]] bool stuck() const;
    [[nodiscard]] bool room_for_mark(std::size_t payload) const;
    [[nodiscard]] bool whole(const PooledFile& file) const;

    // Bytes of each group that are kept free for marks: records that say what need not be kept.
    static constexpr std::size_t mark_bytes = std::size_t{64} << 10;
    // An empty group is written this often while the pool may change files: a sign of life.
    static constexpr std::int64_t sign_of_life_ns = 250'000'000;
    // With an older sign of life the pool does not go on changing files: see journal::slack_ns.
    static constexpr std::int64_t fresh_ns = 1'000'000'000;
    // A drained file that has not been written to for this long is synced.
    static constexpr std::int64_t quiet_ns = 500'000'000;
    // The head is written when no group has come for head_quiet_ns, or it is head_age_ns old.
    static constexpr std::int64_t head_quiet_ns = 20'000'000;
    static constexpr std::int64_t head_age_ns = 1'000'000'000;

    PoolState& pool_state_;
    JournalWriter* writer_;
    journal::RecordNeeds needs_;
    std::deque<Entry> queue_;
    // Numbers of entries: queued so far, in a group, and durable. entered_ >= grouped_ >= durable_.
    std::uint64_t entered_ = 0;
    std::uint64_t grouped_ = 0;
    std::uint64_t durable_ = 0;
    std::uint64_t proven_ = 0;  // durable entries that the head knows of
    struct Unproven {
        std::uint64_t group = 0;
        std::uint64_t entered = 0;  // entries that are durable with the group
    };
    static constexpr std::size_t unproven_max = 64;
    // Durable groups that the head does not know of yet. If there are more, the last two are
    // merged.
    std::deque<Unproven> unproven_;
    bool head_wanted_ = false;           // a sync waits for the head
    std::deque<std::uint64_t> written_;  // grouped_ at the end of each group in flight
    std::int64_t waiting_ = 0;           // clients that wait for durability now
    // Estimate of how many clients write: how many waited at a time lately.
    std::int64_t crowd_ = 0;
    std::int64_t changing_ = 0;  // files that the pool may be changing
    // There is no room for the next entry until records are let go.
    bool full_ = false;
    int error_ = 0;
    std::int64_t group_ns_ = 0;  // when the last group became durable
    std::int64_t head_ns_ = 0;   // when the head was last due
    // After an error, CLOCK_REALTIME: a replay takes a change after this for somebody else's, and
    // so keeps it.
    std::int64_t refused_from_ns_ = 0;
};

}  // namespace forebay::pool
