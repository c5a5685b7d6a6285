// The time of last change (st_ctime) that programs see. The file system sets st_ctime whenever a
// file is drained, and it cannot be set to another value; for a program, the change was its own
// write. So the pool remembers which st_ctime its last change left, and the time that programs are
// shown instead.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <optional>

namespace forebay::pool {

// Called before the pool changes the file on the file system.
void note_changing(PoolState& pool_state, PooledFile& file);
// Called after that. `stamp`: the file's times now; nullopt: unknown. The change stands for one
// that a program made at `modified_ns` (CLOCK_REALTIME).
void note_changed(PoolState& pool_state, PooledFile& file, const std::optional<ChangeStamp>& stamp,
                  std::int64_t modified_ns);
// A program changes the file itself from now on: st_ctime is right.
void note_own_change(PoolState& pool_state, PooledFile& file);

// Restores the two times when a file becomes known again, and saves them when it is forgotten.
void recall_change_time(Directory& directory, FileSlot& slot);
void remember_change_time(Directory& directory, const FileSlot& slot);

}  // namespace forebay::pool
