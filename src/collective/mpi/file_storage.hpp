// Opens a file's storage on this rank, for the engine. plan::choose_storage alone decides whether
// its bytes go to the file system or into a pool.
#pragma once

#include "collective/mpi/file_facts.hpp"
#include "foundation/base/direction.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "settings/settings.hpp"

#include <memory>

namespace forebay::interposer {

[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_file_storage(
    const FileFacts& facts, const UserSettings& settings, IoDirection direction);

}  // namespace forebay::interposer
