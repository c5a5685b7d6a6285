// Steps that files take by themselves: they leave the pool where there is no room, go through when
// nothing of them is left, lose their deposits with their last name, and are forgotten.
#pragma once

#include "pool/core/state/pool_state.hpp"

namespace forebay::pool {

class FileLife {
public:
    explicit FileLife(PoolState& pool_state) : pool_state_{pool_state} {}

    // It was opened once more, where cached writes and read-ahead exclude each other: if it is open
    // for both, it will leave.
    static void note_opened(PoolState& pool_state, PooledFile& file);
    // So many files are being opened by other threads: any file that has lost its last name may be
    // one of them.
    void note_being_opened(std::int64_t files) noexcept { being_opened_ = files; }
    // True when anything changed. The file may be forgotten then.
    bool look_at(PooledFile& file);

private:
    void judge_mixed(PooledFile& file);
    void look_at_room(PooledFile& file);
    void judge_room(PooledFile& file, const RoomLook& look);
    void look_at_name(PooledFile& file);
    [[nodiscard]] bool stamped(PooledFile& file);
    bool sync_for_journal(PooledFile& file);
    bool go_through(PooledFile& file);
    [[nodiscard]] bool waits_for_room(PooledFile& file);
    bool let_descriptors_go(PooledFile& file);
    bool forget(PooledFile& file);

    PoolState& pool_state_;
    std::int64_t being_opened_ = 0;
};

}  // namespace forebay::pool
