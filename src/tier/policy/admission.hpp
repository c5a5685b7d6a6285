// Decides whether a file gets a replica in fast storage when a program opens it. Pure.
#pragma once

#include "tier/policy/folder_policy.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace forebay::tier {

// The room of the fast place, in bytes.
struct FastRoom {
    std::int64_t capacity_bytes = 0;
    std::int64_t used_bytes = 0;  // by replicas, and what was promised to those being filled
    std::int64_t high_bytes = 0;  // above this, replicas are evicted …
    std::int64_t low_bytes = 0;   // … until no more than this is used
    // The global file system's room for what the tier holds and has not moved yet; negative: it
    // does not tell. What lies in fast storage counts for no quota there, and has to fit in the
    // end.
    std::int64_t global_bytes = -1;
};

// How a program wants to use a file.
struct TieredUse {
    std::string_view name{};  // without its folder
    bool writes = false;      // it is opened for writing
    std::int64_t bytes = 0;   // its length on the parallel file system
    double heat = 0;          // how often it was used lately, this use included (heat.hpp)
};

enum class AdmissionVerdict {
    admitted,
    by_policy,   // the folder's policy leaves such files alone
    by_pattern,  // … or files of such names
    too_large,
    no_room,        // fast storage is full of files that are used as much, or not moved yet
    no_room_below,  // the parallel file system could not take it when it is moved
    job_ends,       // there might be no time left to move it
};

// A clean replica that nobody has open, and that may be evicted for a file that is read.
struct RoomCandidate {
    std::int64_t bytes = 0;
    double heat = 0;
};
// A file that is only read takes the place of others if it is used so many times as much: a loop
// over more files than fit would otherwise fill fast storage anew in each pass, for no hit at all.
inline constexpr double heat_advantage = 2;

// `coldest` are the replicas that may be evicted, coldest first. What is written is admitted up to
// the capacity, since it is moved soon; what is read up to high_bytes. `deadline_passed`: see
// MoveDeadline.
[[nodiscard]] AdmissionVerdict admission_of(const FolderPolicy& policy, const TieredUse& use,
                                            const FastRoom& room,
                                            std::span<const RoomCandidate> coldest,
                                            bool deadline_passed);

}  // namespace forebay::tier
