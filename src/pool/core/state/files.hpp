// The files that the pool knows: the slot of the directory that each has, which of them are busy
// (need work in each round), and whether each is pooled, leaving or through. Slots are given out
// round-robin, so that one that became free is not used again at once.
#pragma once

#include "foundation/base/contracts.hpp"
#include "foundation/base/result.hpp"
#include "pool/core/ingest/ingest_state.hpp"
#include "pool/core/ports.hpp"
#include "pool/core/prefetch/read_cache.hpp"
#include "pool/core/state/background.hpp"
#include "pool/core/state/file.hpp"
#include "pool/core/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

namespace forebay::pool {

class PoolFiles {
public:
    // All of these outlive this object.
    struct Surroundings {
        Directory& directory;
        const PoolPorts& ports;
        const PoolOptions& options;
        const IngestState& ingest;
        ReadCache& read_cache;
        BackgroundWork& background;
    };
    explicit PoolFiles(const Surroundings& around);
    PoolFiles(const PoolFiles&) = delete;
    PoolFiles& operator=(const PoolFiles&) = delete;

    // nullptr: the file is not known, or not any more.
    [[nodiscard]] PooledFile* find(std::uint32_t slot, std::uint32_t generation) const noexcept;
    [[nodiscard]] PooledFile* find(const ports::FileIdentity& identity) const noexcept;
    // The file that has the slot now; nullptr: none.
    [[nodiscard]] PooledFile* in_slot(std::uint32_t slot) const noexcept;
    // Contract: a file has the slot. For slots that the pool itself has kept.
    [[nodiscard]] PooledFile& at(std::uint32_t slot) const noexcept;
    [[nodiscard]] FileSlot& slot_of(const PooledFile& file) const noexcept;
    [[nodiscard]] FileState state_of(const PooledFile& file) const noexcept;
    [[nodiscard]] std::uint32_t generation_of(const PooledFile& file) const noexcept;
    // All known files, ordered by device and inode.
    [[nodiscard]] auto known() const noexcept {
        return std::views::transform(
            slots_, [this](const auto& one) -> PooledFile& { return at(one.second); });
    }
    [[nodiscard]] std::size_t count() const noexcept { return slots_.size(); }

    // Makes a file known. Contract: it is not yet. Returns an error if all slots are in use.
    [[nodiscard]] Result<PooledFile*> add(DaemonFile&& open);
    // A known file was opened once more: keeps that of the two DaemonFiles which can write, and
    // closes the other one.
    void reopen(PooledFile& file, DaemonFile&& open);
    // Forgets a file. Contract: no client has it open, and nothing of it is left to be done.
    void forget(PooledFile& file);
    // The slots of files that were forgotten since the last call; empty unless PoolOptions::shared.
    [[nodiscard]] std::vector<std::uint32_t> take_forgotten() {
        return std::exchange(forgotten_, {});
    }

    // Makes the file leave the pool. If it has left already, `reason` may replace one that can be
    // undone.
    void leave(PooledFile& file, ThroughReason reason);
    // Pools the file again, if it is through because of `from`. False: it has another reason, has
    // not finished leaving, or the pool closes down.
    [[nodiscard]] bool come_back(PooledFile& file, ThroughReason from);
    // Makes all files leave, and those that become known later. The first call determines the
    // reason.
    void close_down(ThroughReason reason);
    [[nodiscard]] bool closing() const noexcept { return closes_for_.has_value(); }
    // Closes the daemon's descriptors of a file that is through: its clients write to it by their
    // own.
    void release_descriptors(PooledFile& file);
    // See Pool::lets_go().
    [[nodiscard]] bool lets_go(const ports::FileIdentity& identity) const;

    // Has the file looked at in each round, until keep_busy() finds nothing to be done.
    void mark_busy(PooledFile& file);
    // Has everyone that sleeps on the file's word woken at the end of the round.
    void notify(PooledFile& file);
    [[nodiscard]] bool any_busy() const noexcept { return !busy_.empty(); }
    // Calls `act` for each busy file. It may make further files busy, which are visited, too, and
    // may forget the file that it is called for.
    template <class Act>
    void for_each_busy(const Act& act) const {
        for (std::size_t i = 0; i < busy_.size(); ++i) {
            if (PooledFile* const file = files_[busy_[i]].get()) {
                act(*file);
            }
        }
    }
    template <class Test>
    [[nodiscard]] bool any_busy(const Test& test) const {
        for (const std::uint32_t slot : busy_) {
            if (const PooledFile* const file = files_[slot].get(); file != nullptr && test(*file)) {
                return true;
            }
        }
        return false;
    }
    // Files for which `test` is false are not busy any more, unless there is somebody to wake.
    template <class Test>
    void keep_busy(const Test& test) {
        std::erase_if(busy_, [&](std::uint32_t slot) {
            PooledFile* const file = files_[slot].get();
            if (file != nullptr) {
                invariant(file->busy_, "a file knows that it is busy");
                file->busy_ = file->notifies_ || test(*file);
            }
            return file == nullptr || !file->busy_;
        });
    }

    // Wakes all that sleep on words of files that have changed in this round.
    void wake_notified();
    // At the end: wakes all that sleep on the words of files.
    void release_waiters();

private:
    // Notices whether the file was changed by others since it was last opened; see the definition.
    void look_at_stamp(PooledFile& file, const ChangeStamp& stamp);
    void fill_in(FileSlot& slot, const DaemonFile& open) const;
    [[nodiscard]] std::uint32_t take_slot();

    Directory& directory_;
    const PoolPorts& ports_;
    const PoolOptions& options_;
    const IngestState& ingest_;
    ReadCache& read_cache_;
    BackgroundWork& background_;
    std::vector<std::unique_ptr<PooledFile>> files_;                          // by slot
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> slots_;  // by identity
    std::vector<std::uint32_t> busy_;                                         // slots
    std::vector<std::uint32_t> forgotten_;
    std::uint32_t next_slot_ = 0;  // the slot to try first
    std::optional<ThroughReason> closes_for_;
};

}  // namespace forebay::pool
