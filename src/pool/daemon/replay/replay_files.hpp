// The files that a replay writes to: each is looked for at its path, then in the same directory by
// its inode number. Bytes that may not be written to it go to a rescue file.
#pragma once

#include "pool/daemon/rescue/rescue.hpp"
#include "pool/journal/replay.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace forebay::daemon {

class StoredReplayFiles final : public pool::ReplayFiles {
public:
    // See RescueFolder for the first two parameters, and JournalOptions::below for the third.
    StoredReplayFiles(std::vector<std::string> rescue_folders, std::int64_t now_ns,
                      std::vector<std::string> below)
        : rescue_{std::move(rescue_folders), now_ns}, below_{std::move(below)} {}

    [[nodiscard]] bool may_be_written(const pool::journal::ReplayPlan& replay_plan) const override;
    [[nodiscard]] Result<std::unique_ptr<pool::ReplayFile>> find(
        const pool::journal::ReplayPlan& replay_plan) override;
    [[nodiscard]] Result<std::string> keep(const pool::journal::ReplayPlan& replay_plan,
                                           int error) override;

private:
    RescueFolder rescue_;
    std::vector<std::string> below_;
};

// The generation number of the open inode (FS_IOC_GETVERSION), which tells apart files that had the
// same inode number one after another; 0: the file system has none.
[[nodiscard]] std::uint64_t generation_of(int fd) noexcept;

}  // namespace forebay::daemon
