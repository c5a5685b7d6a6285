// Which replicas leave fast storage now. The list is asked for as many as leave, not for all that
// there are; which of these is for to_evict() to say.
#pragma once

#include "tier/live/memory_list.hpp"
#include "tier/policy/evict_order.hpp"
#include "tier/policy/folder_policy.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace forebay::tier {

// Facts of files that the list does not know.
struct EvictionFacts {
    // A program or the mover uses the file.
    std::function<bool(const ReplicaName&)> is_used;
    // The policy that holds for a file.
    std::function<FolderPolicy(const std::string& path)> policy_of;
};

// The coldest clean replicas, as to_evict() chooses them: none that is used, or pinned. Folders
// that are pinned are set aside in the list, so that they are not asked for again until its
// take_back().
[[nodiscard]] std::vector<ReplicaName> coldest_to_evict(MemoryReplicaList& list,
                                                        const EvictSituation& situation,
                                                        const EvictionFacts& facts);

// Those whose time to live is up (`now_ns`: CLOCK_REALTIME), oldest first. Asks for the policy of
// every folder with replicas.
[[nodiscard]] std::vector<ReplicaName> expired_to_evict(const MemoryReplicaList& list,
                                                        std::int64_t now_ns,
                                                        const EvictionFacts& facts);

}  // namespace forebay::tier
