// The files of the pool: in which slot of the directory each is, which of them something is to be
// done about, and whether it is pooled. Slots go round, so that one that is free is not given again
// at once.
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
    // All of it outlives this.
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

    // nullptr where there is no such file (any more).
    [[nodiscard]] PooledFile* find(std::uint32_t slot, std::uint32_t generation) const noexcept;
    [[nodiscard]] PooledFile* find(const ports::FileIdentity& identity) const noexcept;
    // Whatever file has the slot now.
    [[nodiscard]] PooledFile* in_slot(std::uint32_t slot) const noexcept;
    // Contract: a file has the slot. For slots that the pool itself has kept.
    [[nodiscard]] PooledFile& at(std::uint32_t slot) const noexcept;
    [[nodiscard]] FileSlot& slot_of(const PooledFile& file) const noexcept;
    [[nodiscard]] FileState state_of(const PooledFile& file) const noexcept;
    [[nodiscard]] std::uint32_t generation_of(const PooledFile& file) const noexcept;
    // All of them, in the order of their identities.
    [[nodiscard]] auto known() const noexcept {
        return std::views::transform(
            slots_, [this](const auto& one) -> PooledFile& { return at(one.second); });
    }
    [[nodiscard]] std::size_t count() const noexcept { return slots_.size(); }

    // A file that is not known; an error where there is no slot for it.
    [[nodiscard]] Result<PooledFile*> add(DaemonFile&& open);
    // One that is known was opened once more. The better of the two is kept: one that can write.
    void reopen(PooledFile& file, DaemonFile&& open);
    // Contract: nobody has it open, and nothing of it is left to be done.
    void forget(PooledFile& file);
    // Slots of files that were forgotten, since the last call; only where PoolOptions::shared.
    [[nodiscard]] std::vector<std::uint32_t> take_forgotten() {
        return std::exchange(forgotten_, {});
    }

    // The file leaves the pool, because of `reason`.
    void leave(PooledFile& file, ThroughReason reason);
    // False: something else than `from` keeps it out of the pool.
    [[nodiscard]] bool come_back(PooledFile& file, ThroughReason from);
    // All files leave, and those that come. The first reason counts.
    void close_down(ThroughReason reason);
    [[nodiscard]] bool closing() const noexcept { return closes_for_.has_value(); }
    // The file is through, and its clients have it open: the daemon needs no descriptor of it.
    void release_descriptors(PooledFile& file);
    // Nobody has it open any more, and it will be closed on the file system.
    [[nodiscard]] bool lets_go(const ports::FileIdentity& identity) const;

    // Something is to be done about the file.
    void mark_busy(PooledFile& file);
    // Its word has changed: whoever sleeps on it is woken at the end of the round.
    void notify(PooledFile& file);
    [[nodiscard]] bool any_busy() const noexcept { return !busy_.empty(); }
    // `act` may make files busy, which get their turn, and forget the one that it is called for.
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
    // Files for which it is false are not busy any more, unless somebody is to be woken.
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

    // Wakes those who sleep on what has changed.
    void wake_notified();
    // At the end: whatever clients wait for has happened.
    void release_waiters();

private:
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
    std::uint32_t next_slot_ = 0;  // if it is free
    std::optional<ThroughReason> closes_for_;
};

}  // namespace forebay::pool
