// Tests which files get a replica, by tables and properties.
#include "tier/policy/admission.hpp"

#include "foundation/base/bytes.hpp"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

const FolderPolicy both{.write = true, .preload = true};
const FastRoom half_full{.capacity_bytes = 100 * mib,
                         .used_bytes = 50 * mib,
                         .high_bytes = 90 * mib,
                         .low_bytes = 70 * mib};

TEST(Admission, SaysWhyAFileIsLeftAlone) {
    struct Row {
        std::string name;
        FolderPolicy policy;
        TieredUse use;
        FastRoom room;
        bool job_ends = false;
        AdmissionVerdict verdict = AdmissionVerdict::admitted;
    };
    FastRoom full = half_full;
    full.used_bytes = 90 * mib;
    FastRoom no_quota = half_full;
    no_quota.global_bytes = 0;
    const TieredUse reads{.name = "a.nc", .bytes = 20 * mib, .heat = 1};
    const TieredUse writes{.name = "a.nc", .writes = true};
    const std::array rows{
        Row{"what is read", both, reads, half_full, false, AdmissionVerdict::admitted},
        Row{"what is written", both, writes, half_full, false, AdmissionVerdict::admitted},
        Row{"a folder that is off", {}, writes, half_full, false, AdmissionVerdict::by_policy},
        Row{"written where only reads count",
            {.preload = true},
            writes,
            half_full,
            false,
            AdmissionVerdict::by_policy},
        Row{"read where only writes count",
            {.write = true},
            reads,
            half_full,
            false,
            AdmissionVerdict::by_policy},
        Row{"another name",
            {.preload = true, .only = {"*.h5"}},
            reads,
            half_full,
            false,
            AdmissionVerdict::by_pattern},
        Row{"larger than files may be",
            {.preload = true, .largest_bytes = 10 * mib},
            reads,
            half_full,
            false,
            AdmissionVerdict::too_large},
        Row{"no room to read it to", both, reads, full, false, AdmissionVerdict::no_room},
        Row{"what is written takes the rest", both, writes, full, false,
            AdmissionVerdict::admitted},
        Row{"the global quota is used up", both, writes, no_quota, false,
            AdmissionVerdict::no_room_below},
        Row{"which is nothing to a reader", both, reads, no_quota, false,
            AdmissionVerdict::admitted},
        Row{"no time to move it", both, writes, half_full, true, AdmissionVerdict::job_ends},
        Row{"a reader needs none", both, reads, half_full, true, AdmissionVerdict::admitted},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(admission_of(row.policy, row.use, row.room, {}, row.job_ends), row.verdict)
            << row.name;
    }
}

TEST(Admission, WhatIsReadTakesThePlaceOfMuchColderFilesOnly) {
    FastRoom full = half_full;
    full.used_bytes = 90 * mib;
    const std::array equal{RoomCandidate{.bytes = 45 * mib, .heat = 1}};
    TieredUse use{.name = "x", .bytes = 10 * mib, .heat = 1};
    EXPECT_EQ(admission_of(both, use, full, equal, false), AdmissionVerdict::no_room)
        << "a loop over too many files replaces none";
    use.heat = 2;
    EXPECT_EQ(admission_of(both, use, full, equal, false), AdmissionVerdict::admitted);
    use.bytes = 46 * mib;
    EXPECT_EQ(admission_of(both, use, full, equal, false), AdmissionVerdict::no_room)
        << "not enough comes free";
}

TEST(Admission, WhatIsWrittenTakesThePlaceOfAnyReplica) {
    FastRoom full = half_full;
    full.used_bytes = 100 * mib;
    const std::array hot{RoomCandidate{.bytes = 45 * mib, .heat = 99}};
    const TieredUse use{.name = "x", .writes = true, .bytes = 10 * mib};
    EXPECT_EQ(admission_of(both, use, full, {}, false), AdmissionVerdict::no_room);
    EXPECT_EQ(admission_of(both, use, full, hot, false), AdmissionVerdict::admitted);
}

RC_GTEST_PROP(AdmissionOfReads, FitsWhenWhatIsColdEnoughHasGone, ()) {
    const auto size = rc::gen::inRange<std::int64_t>(0, 60);
    const std::int64_t high = *size;
    const FastRoom room{.capacity_bytes = 60, .used_bytes = *size, .high_bytes = high};
    const TieredUse use{.name = "x", .bytes = *size, .heat = 4};
    std::vector<RoomCandidate> coldest;
    std::int64_t may_go = 0;
    for (int i = 0; i < *rc::gen::inRange(0, 5); ++i) {
        coldest.push_back({.bytes = *size, .heat = static_cast<double>(i)});
        may_go += i * heat_advantage <= use.heat ? coldest.back().bytes : 0;
    }
    const bool fits = use.bytes <= high && room.used_bytes - may_go + use.bytes <= high;
    RC_ASSERT((admission_of(both, use, room, coldest, false) == AdmissionVerdict::admitted) ==
              fits);
}

}  // namespace
}  // namespace forebay::tier
