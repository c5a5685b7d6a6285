// Tests the memory limit with the cgroup files of several kinds of systems: their
// /proc/self/cgroup, /proc/self/mountinfo, and limit files.
#include "pool/policy/memory_limit.hpp"

#include <gmock/gmock.h>
#include <map>
#include <string>

namespace forebay::pool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
const MemoryLimit machine{.bytes = 64 * gibibyte};
constexpr const char* unlimited = "9223372036854771712\n";

const std::string version_one =
    "25 30 0:22 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
    "26 25 0:23 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "31 25 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:14 - cgroup cgroup rw,memory\n";
const std::string version_two =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string hybrid =
    version_one + "27 25 0:24 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n";

// The limit that applies if `files` are the limit files that exist.
MemoryLimit limit_of(const std::string& groups, const std::string& mounts,
                     const std::map<std::string, std::string>& files) {
    MemoryLimit limit = machine;
    for (const std::string& file : memory_limit_files(groups, mounts)) {
        const auto found = files.find(file);
        limit = lesser_limit(std::move(limit), file, found == files.end() ? "" : found->second);
    }
    return limit;
}

TEST(MemoryLimit, OfVersionOneIsTheLeastOnTheWayUp) {
    const std::string groups = "11:cpu,cpuacct:/\n4:memory:/slurm/uid_7/job_3/step_0\n0::/x\n";
    EXPECT_THAT(memory_limit_files(groups, version_one),
                ElementsAre("/sys/fs/cgroup/memory/slurm/uid_7/job_3/step_0/memory.stat",
                            "/sys/fs/cgroup/memory/slurm/uid_7/job_3/step_0/memory.limit_in_bytes",
                            "/sys/fs/cgroup/memory/slurm/uid_7/job_3/memory.limit_in_bytes",
                            "/sys/fs/cgroup/memory/slurm/uid_7/memory.limit_in_bytes",
                            "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes",
                            "/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    const std::string job = "/sys/fs/cgroup/memory/slurm/uid_7/job_3/memory.limit_in_bytes";
    const std::string step = "/sys/fs/cgroup/memory/slurm/uid_7/job_3/step_0/memory.limit_in_bytes";
    EXPECT_EQ(limit_of(groups, version_one, {{job, "125829120\n"}, {step, unlimited}}),
              (MemoryLimit{.bytes = 120 * mebibyte, .file = job}));
    EXPECT_EQ(limit_of(groups, version_one, {{job, "125829120\n"}, {step, "8388608\n"}}),
              (MemoryLimit{.bytes = 8 * mebibyte, .file = step}));
    EXPECT_EQ(limit_of(groups, version_one, {{job, unlimited}}), machine);
}

TEST(MemoryLimit, OfVersionTwoIsMaxOrHigh) {
    const std::string groups = "0::/system.slice/slurmstepd.scope/job_3/step_batch/user/task_0\n";
    const std::string job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_3";
    EXPECT_EQ(limit_of(groups, version_two, {{job + "/memory.max", "2147483648\n"}}),
              (MemoryLimit{.bytes = 2 * gibibyte, .file = job + "/memory.max"}));
    EXPECT_EQ(limit_of(groups, version_two,
                       {{job + "/memory.max", "2147483648\n"},
                        {job + "/step_batch/memory.high", "1073741824\n"}}),
              (MemoryLimit{.bytes = gibibyte, .file = job + "/step_batch/memory.high"}));
    EXPECT_EQ(limit_of(groups, version_two, {{job + "/memory.max", "max\n"}}), machine);
}

TEST(MemoryLimit, WhereBothAreMountedThatOfTheMemoryControllerCounts) {
    const std::string groups = "4:memory:/a/b\n1:name=systemd:/c\n0::/c/d\n";
    const std::string file = "/sys/fs/cgroup/memory/a/memory.limit_in_bytes";
    EXPECT_EQ(limit_of(groups, hybrid, {{file, "1073741824"}}),
              (MemoryLimit{.bytes = gibibyte, .file = file}));
    EXPECT_THAT(memory_limit_files("1:name=systemd:/c\n", hybrid), IsEmpty());
}

TEST(MemoryLimit, OfAContainerIsThatOfItsOwnGroup) {
    // Without a cgroup namespace: the container sees the host's names, and a part of the host's
    // tree.
    const std::string mounts =
        "900 800 0:28 /docker/4f0e /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    const std::string own = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
    EXPECT_THAT(memory_limit_files("4:memory:/docker/4f0e\n", mounts),
                ElementsAre("/sys/fs/cgroup/memory/memory.stat", own));
    EXPECT_EQ(limit_of("4:memory:/docker/4f0e/inner\n", mounts, {{own, "1073741824"}}).file, own);
    // A cgroup whose name only begins like the container's, and one that was moved elsewhere.
    EXPECT_EQ(limit_of("4:memory:/docker/4f0e11\n", mounts, {{own, "1073741824"}}).file, own);
    EXPECT_EQ(limit_of("4:memory:/other\n", mounts, {{own, "1073741824"}}).file, own);
    // With a cgroup namespace: the container's cgroup is the root.
    EXPECT_EQ(limit_of("0::/\n", version_two, {{"/sys/fs/cgroup/memory.max", "1073741824"}}).bytes,
              gibibyte);
    EXPECT_THAT(memory_limit_files("0::/../sibling\n", version_two),
                ElementsAre("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.high"));
}

TEST(MemoryLimit, OfGroupsThatAContainerDoesNotSeeIsToldByItsStatistics) {
    const std::string mounts =
        "900 800 0:28 /kubepods/pod7/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    const std::string stat = "/sys/fs/cgroup/memory/memory.stat";
    const std::string text = "cache 1\nrss 2\nhierarchical_memory_limit 536870912\ntotal_rss 2\n";
    EXPECT_EQ(limit_of("4:memory:/kubepods/pod7/c1\n", mounts, {{stat, text}}),
              (MemoryLimit{.bytes = 512 * mebibyte, .file = stat}));
    const std::string own = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
    EXPECT_EQ(
        limit_of("4:memory:/kubepods/pod7/c1\n", mounts, {{stat, text}, {own, "536870912\n"}}).file,
        own);
}

TEST(MemoryLimit, MountPointsMayHaveBlanksAndNamesColons) {
    const std::string mounts = "30 23 0:26 / /my\\040groups\\134 rw - cgroup2 none rw\n";
    EXPECT_THAT(memory_limit_files("0::/a:b\n", mounts),
                ElementsAre("/my groups\\/a:b/memory.max", "/my groups\\/a:b/memory.high",
                            "/my groups\\/memory.max", "/my groups\\/memory.high"));
}

TEST(MemoryLimit, WhatMakesNoSenseSaysNothing) {
    EXPECT_THAT(memory_limit_files("", ""), IsEmpty());
    EXPECT_THAT(memory_limit_files("0::/a\n4:memory:/a", ""), IsEmpty());
    EXPECT_THAT(memory_limit_files("rubbish\n\n:::\n", version_one + version_two), IsEmpty());
    EXPECT_THAT(memory_limit_files("0::/a\n", "30 23 - cgroup2\n - \n30 - cgroup none memory"),
                IsEmpty());
    for (const char* text : {"", "max", "-1", "0", "99999999999999999999", "x"}) {
        EXPECT_EQ(lesser_limit(machine, "/memory.max", text), machine) << text;
    }
}

TEST(MemoryLimit, TheUsualCapIsATenthWithinBounds) {
    EXPECT_EQ(usual_cap(0), 64 * mebibyte);
    EXPECT_EQ(usual_cap(10 * gibibyte), gibibyte);
    EXPECT_EQ(usual_cap(1000 * gibibyte), 16 * gibibyte);
    EXPECT_EQ(usual_cap(400 * mebibyte), 64 * mebibyte);
    EXPECT_EQ(usual_cap(120 * mebibyte), 30 * mebibyte);
    EXPECT_EQ(usual_cap(1 * mebibyte), cap_least);
}

TEST(MemoryLimit, ACapThatSomebodyChoseStaysWithinAControlGroup) {
    EXPECT_EQ(bounded_cap(128 * gibibyte, machine), 128 * gibibyte);
    EXPECT_EQ(bounded_cap(32, machine), cap_least);
    const MemoryLimit group{.bytes = 120 * mebibyte, .file = "/memory.max"};
    EXPECT_EQ(bounded_cap(gibibyte, group), 60 * mebibyte);
    EXPECT_EQ(bounded_cap(50 * mebibyte, group), 50 * mebibyte);
}

TEST(MemoryLimit, OnlyASmallControlGroupHasNoRoomForDirtyPages) {
    const std::string file = "/cg/memory.limit_in_bytes";
    EXPECT_TRUE(has_no_room_for_dirty_pages({.bytes = 120 * mebibyte, .file = file}));
    EXPECT_FALSE(has_no_room_for_dirty_pages({.bytes = 2 * gibibyte, .file = file}));
    EXPECT_FALSE(has_no_room_for_dirty_pages({.bytes = gibibyte}));
}

}  // namespace
}  // namespace forebay::pool
