// Brings processes into the control groups by which Slurm finds the processes of a step. slurmstepd
// is not in them itself (version 1: its freezer is the job's; version 2: it has a group of its
// own), and neither is what it starts: that would be neither signalled nor killed with the step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace forebay::slurm {

// The folder of the group that process tracking uses, from the texts of /proc/PID/cgroup and
// /proc/self/mountinfo: of version 1 the freezer, else of version 2. nullopt if none is mounted.
[[nodiscard]] std::optional<std::string> tracking_group(std::string_view groups,
                                                        std::string_view mounts);

// Moves `process` to the tracking group of `task`. False: it could not be moved; true also if
// there is no such group, or they are in the same.
[[nodiscard]] bool join_group_of(pid_t task, pid_t process);

}  // namespace forebay::slurm
