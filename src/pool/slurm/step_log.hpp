// The file in which a user finds afterwards what did not arrive: srun may be gone when that is
// known.
#pragma once

#include "pool/slurm/pool_keeper.hpp"
#include "pool/slurm/user_identity.hpp"

#include <span>
#include <string>
#include <vector>

namespace forebay::slurm {

struct StepName {
    std::string step;  // JOB.STEP
    std::string host;
};

[[nodiscard]] StepName step_name(std::uint32_t job, std::uint32_t step);

// The report on a pool that was killed, or whose `forebay run` was killed, and that so could report
// nothing itself.
[[nodiscard]] std::vector<std::string> lines_of_kill(const KeeperEnd& end, const StepName& name);

// Appends to forebay-JOB.STEP-HOST.log, as the user, in the first of these folders that takes it.
// The file's path, or "" if none did.
[[nodiscard]] std::string write_log(const StepName& name, std::span<const std::string> folders,
                                    const std::string& text, const UserIdentity& identity);

}  // namespace forebay::slurm
