// The files of a replay: found by name, or beside it by inode; else kept in a rescue file.
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
    // See RescueFolder, and JournalOptions::below.
    StoredReplayFiles(std::vector<std::string> rescue_folders, std::int64_t now_ns,
                      std::vector<std::string> below)
        : rescue_{std::move(rescue_folders), now_ns}, below_{std::move(below)} {}

    [[nodiscard]] bool is_asked_for(const pool::journal::ReplayPlan& replay_plan) const override;
    [[nodiscard]] Result<std::unique_ptr<pool::ReplayFile>> find(
        const pool::journal::ReplayPlan& replay_plan) override;
    [[nodiscard]] Result<std::string> keep(const pool::journal::ReplayPlan& replay_plan,
                                           int error) override;

private:
    RescueFolder rescue_;
    std::vector<std::string> below_;
};

// The generation of the inode that is open; 0: its file system does not tell.
[[nodiscard]] std::uint64_t generation_of(int fd) noexcept;

}  // namespace forebay::daemon
