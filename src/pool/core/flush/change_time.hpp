// When a file was changed last (st_ctime), as programs see it. The file system takes each request
// of draining for a change, and its time cannot be set; for a program, the change was its own
// write. So the pool remembers which time the file system has since, and which one it stands for.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <optional>

namespace forebay::pool {

// Before the pool changes the file on the file system.
void note_changing(PoolState& pool_state, PooledFile& file);
// It has, and looked at the file once more: what it did stands for a change at `modified_ns`.
void note_changed(PoolState& pool_state, PooledFile& file, const std::optional<ChangeStamp>& stamp,
                  std::int64_t modified_ns);
// A program changes the file itself from now on.
void note_own_change(PoolState& pool_state, PooledFile& file);

// A file that is made known, and one that is forgotten.
void recall_change_time(Directory& directory, FileSlot& slot);
void remember_change_time(Directory& directory, const FileSlot& slot);

}  // namespace forebay::pool
