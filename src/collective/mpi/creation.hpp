// The hints striping_factor and striping_unit where a file is created. A layout must be there
// before the first byte and, on Lustre, before anyone opens the file: so rank 0 makes it, before
// any rank calls the MPI's open (decision 0011). Nothing here communicates.
#pragma once

#include "settings/settings.hpp"
#include "storage/layout/stripes.hpp"
#include "storage/policy/tuning.hpp"

#include <optional>
#include <string>
#include <vector>

namespace forebay::interposer {

struct FileCreation {
    bool made = false;                  // the file was not there, and is now
    std::optional<FileStripes> layout;  // as it was read back
    std::vector<std::string> warnings;
};

// Contract: `amode` has MPI_MODE_CREATE.
[[nodiscard]] FileCreation create_striped(const std::string& path, int amode,
                                          const UserSettings& settings);

// How a file's bytes lie, for the engine: what its file system says, or else what the settings
// say; what is wrong with it is added to `warnings`.
[[nodiscard]] FileStripes found_or_told(const std::string& path, const UserSettings& settings,
                                        std::vector<std::string>& warnings);

}  // namespace forebay::interposer
