// The rules of admission, in the order in which they are told to users.
#include "tier/policy/admission.hpp"

#include "foundation/base/units.hpp"

namespace forebay::tier {

namespace {

// Whether `bytes` fit below `most` if replicas are evicted that are colder by heat_advantage; for a
// file that is written, any may be.
bool fits_in(const TieredUse& use, std::int64_t most, std::int64_t used,
             std::span<const RoomCandidate> coldest) noexcept {
    if (use.bytes > most) {
        return false;
    }
    std::int64_t left = used;
    for (const RoomCandidate& one : coldest) {
        if (left <= most - use.bytes || (!use.writes && one.heat * heat_advantage > use.heat)) {
            break;
        }
        left -= one.bytes;
    }
    return left <= most - use.bytes;
}

}  // namespace

AdmissionVerdict admission_of(const FolderPolicy& policy, const TieredUse& use,
                              const FastRoom& room, std::span<const RoomCandidate> coldest,
                              bool deadline_passed) {
    if (use.writes ? !policy.write : !policy.preload) {
        return AdmissionVerdict::by_policy;
    }
    if (!takes_name(policy, use.name)) {
        return AdmissionVerdict::by_pattern;
    }
    if (use.bytes > policy.largest_bytes) {
        return AdmissionVerdict::too_large;
    }
    if (use.writes && deadline_passed) {
        return AdmissionVerdict::job_ends;
    }
    if (use.writes && room.global_bytes == 0) {
        return AdmissionVerdict::no_room_below;
    }
    const std::int64_t most = use.writes ? room.capacity_bytes : room.high_bytes;
    return fits_in(use, most, room.used_bytes, coldest) ? AdmissionVerdict::admitted
                                                        : AdmissionVerdict::no_room;
}

}  // namespace forebay::tier
