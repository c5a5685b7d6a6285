// Transitions of files that no client asks for: a file leaves when its file system is short of
// space, goes through when it is drained, loses its deposits with its last name, and is forgotten.
#pragma once

#include "pool/core/state/pool_state.hpp"

namespace forebay::pool {

class FileLife {
public:
    explicit FileLife(PoolState& pool_state) : pool_state_{pool_state} {}

    // For CacheConsistency::paper, where cached writes and read-ahead of a file exclude each other:
    // the file was opened once more. If it is then open for both, it will leave.
    static void note_opened(PoolState& pool_state, PooledFile& file);
    // See Pool::being_opened().
    void note_being_opened(std::int64_t files) noexcept { being_opened_ = files; }
    // One look at a busy file. Returns true if anything changed; the file may be forgotten then.
    bool look_at(PooledFile& file);

private:
    // Makes a file leave that is open for reading and for writing.
    void judge_mixed(PooledFile& file);
    // Begins a look at the free space of the file's file system, if one is due.
    void look_at_room(PooledFile& file);
    void judge_room(PooledFile& file, const RoomLook& look);
    [[nodiscard]] bool may_be_reopened() const;
    // Begins a look whether the file has a name, and drops its deposits if it has none.
    void look_at_name(PooledFile& file);
    // Sets st_mtime to the time of the last deposit, after draining. False: it is not set yet.
    [[nodiscard]] bool stamped(PooledFile& file);
    bool sync_for_journal(PooledFile& file);
    // From leaving to through.
    bool go_through(PooledFile& file);
    [[nodiscard]] bool waits_for_room(PooledFile& file);
    bool let_descriptors_go(PooledFile& file);
    bool forget(PooledFile& file);

    PoolState& pool_state_;
    std::int64_t being_opened_ = 0;
};

}  // namespace forebay::pool
