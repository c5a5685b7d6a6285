// Durability `node`: what is taken is also written to a journal on a device that outlives the node,
// and acknowledged when it is there. Groups are written one after the other; what comes meanwhile
// is the next one. Records are let go when what they say is in the files, durably
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
    // `writer` outlives it; null: none is asked for, and everything is as if all were durable.
    Journal(PoolState& pool_state, JournalWriter* writer)
        : pool_state_{pool_state}, writer_{writer} {}

    [[nodiscard]] bool asked() const noexcept { return writer_ != nullptr; }
    // It is asked for, and its device has not failed.
    [[nodiscard]] bool kept() const noexcept { return asked() && error_ == 0; }
    // errno of its device: from then on everything is written through.
    [[nodiscard]] int error() const noexcept { return error_; }
    // Its device is nearly full of what is not in the files: these are to be drained.
    [[nodiscard]] bool pressed() const noexcept { return kept() && full_; }
    // Somebody waits for a group: what nobody needs yet is not to hold up the next one.
    [[nodiscard]] bool waited_for() const noexcept { return kept() && waiting_ > 0; }

    // The deposit is the file's newest.
    void append(PooledFile& file, const Deposit& deposit);
    // The file has this length from now on. Deposits made behind it since are put once more.
    void cut(PooledFile& file, Length bytes);
    // Somebody has looked at the file.
    void seen(PooledFile& file, const ChangeStamp& stamp);
    // Whether the pool may change the file on the file system. False: soon.
    [[nodiscard]] bool may_change(PooledFile& file);

    // A sync should now make durable in the file what the journal has of it.
    [[nodiscard]] bool wants_sync(const PooledFile& file) const;
    // A sync begins: what it will settle. To be given back when it has succeeded.
    [[nodiscard]] std::uint64_t begin_sync(PooledFile& file);
    // `stamp`: nothing, where the file system did not tell.
    void synced(PooledFile& file, std::uint64_t through, const std::optional<ChangeStamp>& stamp);
    void sync_failed(PooledFile& file);
    // Nobody will ever want what it has of the file, or it is kept elsewhere, durably.
    void drop(PooledFile& file);
    // Nothing of the file would be written by a replay.
    [[nodiscard]] bool nothing_of(const PooledFile& file) const;

    // Everything that was put so far: is_durable() says when.
    [[nodiscard]] std::uint64_t so_far() const noexcept { return entered_; }
    [[nodiscard]] bool is_durable(std::uint64_t entered) const noexcept {
        return !kept() || durable_ >= entered;
    }
    // So much is durable, and the head knows it: if the device loses any of it, a replay refuses
    // instead of taking what is left for all there was. False: soon, which is then seen to.
    [[nodiscard]] bool is_proven(std::uint64_t entered) noexcept {
        const bool proven = !kept() || proven_ >= entered;
        head_wanted_ = head_wanted_ || (!proven && is_durable(entered));
        return proven;
    }
    // So many commits of the client are taken.
    void note_commits(Client& client, std::uint64_t commits);

    // True when anything was done.
    bool run_once();
    // At the end, when nothing more is to come. True: nothing is left that a replay would write.
    bool finish();

private:
    struct Entry {
        std::uint32_t slot = files_max;  // no file: it was dropped
        bool cuts = false;
        Deposit deposit;
        Length length{};  // cuts: of the file
    };

    bool collect();
    void fail(int error);
    void release();
    void publish();
    bool gather();
    [[nodiscard]] bool enter(const Entry& entry);
    void introduce(PooledFile& file, std::uint64_t number);
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

    // Kept of a group for marks, which say what need not be kept.
    static constexpr std::size_t mark_bytes = std::size_t{64} << 10;
    static constexpr std::int64_t sign_of_life_ns = 250'000'000;
    // An old sign of life is not enough to go on changing files: see journal::slack_ns.
    static constexpr std::int64_t fresh_ns = 1'000'000'000;
    static constexpr std::int64_t quiet_ns = 500'000'000;
    // The head is written when no group has come for so long, or has been for so long.
    static constexpr std::int64_t head_quiet_ns = 20'000'000;
    static constexpr std::int64_t head_age_ns = 1'000'000'000;

    PoolState& pool_state_;
    JournalWriter* writer_;
    journal::RecordNeeds needs_;
    std::deque<Entry> queue_;
    // Entries that were ever put into the queue, are in a group, and are durable: each is no more
    // than the one before.
    std::uint64_t entered_ = 0;
    std::uint64_t grouped_ = 0;
    std::uint64_t durable_ = 0;
    std::uint64_t proven_ = 0;  // … and the head knows them
    struct Unproven {
        std::uint64_t group = 0;
        std::uint64_t entered = 0;  // are durable with it
    };
    static constexpr std::size_t unproven_max = 64;
    std::deque<Unproven> unproven_;      // if there are more, the last two become one
    bool head_wanted_ = false;           // somebody waits for the head
    std::deque<std::uint64_t> written_;  // by the end of each group that is under way
    std::int64_t waiting_ = 0;           // clients that wait
    std::int64_t crowd_ = 0;             // that lately waited at a time
    std::int64_t changing_ = 0;          // files
    bool full_ = false;
    int error_ = 0;
    std::int64_t group_ns_ = 0;         // when the last group was durable, and …
    std::int64_t head_ns_ = 0;          // … since when the head has not been looked after
    std::int64_t refused_from_ns_ = 0;  // after an error: who changes a file later, keeps that
};

}  // namespace forebay::pool
