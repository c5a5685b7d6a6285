// A file's storage on this rank, for the engine: which way its bytes take is chosen by
// plan::choose_storage, and nowhere else.
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
