// Creates files with the layout that the hints striping_factor and striping_unit ask for. A layout
// must be set before the first byte is written and, on Lustre, before any process opens the file.
// So rank 0 creates the file before any rank calls the MPI's open (decision 0011). Nothing here
// communicates.
#pragma once

#include "settings/settings.hpp"
#include "storage/layout/stripes.hpp"
#include "storage/policy/tuning.hpp"

#include <optional>
#include <string>
#include <vector>

namespace forebay::interposer {

struct FileCreation {
    bool made = false;                  // the file did not exist, and was created
    std::optional<FileStripes> layout;  // as the file system reports it afterwards
    std::vector<std::string> warnings;
};

// Contract: `amode` has MPI_MODE_CREATE.
[[nodiscard]] FileCreation create_striped(const std::string& path, int amode,
                                          const UserSettings& settings);

// How a file's bytes lie over targets, for the engine: the layout that the file system reports or,
// if it reports none, the one that the settings claim. Problems are added to `warnings`.
[[nodiscard]] FileStripes found_or_told(const std::string& path, const UserSettings& settings,
                                        std::vector<std::string>& warnings);

}  // namespace forebay::interposer
