// Texts of /proc as real nodes have them.
#include "pool/slurm/task_cgroups.hpp"

#include <gtest/gtest.h>
#include <string>

namespace {

using forebay::slurm::tracking_group;

const std::string version_1 =
    "9:name=systemd:/\n6:freezer:/slurm_n1/uid_5/job_7/step_0\n"
    "4:memory:/slurm_n1/uid_5/job_7/step_0/task_0\n0::/\n";
const std::string version_2 = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n";

TEST(TaskCgroups, VersionOneTracksByTheFreezer) {
    const std::string mounts =
        "30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "31 25 0:27 / /sys/fs/cgroup/freezer rw,nosuid shared:9 - cgroup cgroup rw,freezer\n"
        "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    EXPECT_EQ(tracking_group(version_1, mounts),
              "/sys/fs/cgroup/freezer/slurm_n1/uid_5/job_7/step_0");
}

TEST(TaskCgroups, AMountThatShowsAnotherPartIsPassedOver) {
    const std::string mounts =
        "30 25 0:27 /slurm_n2 /other rw - cgroup cgroup rw,freezer\n"
        "31 25 0:27 /slurm_n /shorter rw - cgroup cgroup rw,freezer\n"
        "32 25 0:27 /slurm_n1 /cgroup/freezer rw - cgroup cgroup rw,freezer\n";
    EXPECT_EQ(tracking_group(version_1, mounts), "/cgroup/freezer/uid_5/job_7/step_0");
}

TEST(TaskCgroups, VersionTwoHasOneHierarchy) {
    const std::string mounts = "24 1 0:22 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
    EXPECT_EQ(tracking_group(version_2, mounts),
              "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
}

TEST(TaskCgroups, NothingIsFoundInTextsThatSayNothing) {
    EXPECT_EQ(tracking_group("", ""), std::nullopt);
    EXPECT_EQ(tracking_group("x\n1:freezer\n", "31 25 - cgroup\n-\n"), std::nullopt);
    EXPECT_EQ(tracking_group(version_2, "31 25 0:27 / /x rw - cgroup cgroup rw,freezer\n"),
              std::nullopt);
}

}  // namespace
