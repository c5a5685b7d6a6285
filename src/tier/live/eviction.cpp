// Asks for few at first, and for more as long as they are not enough.
#include "tier/live/eviction.hpp"

#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

namespace forebay::tier {

namespace {

constexpr std::size_t asked_at_first = 64;
constexpr std::size_t growth = 4;

std::string_view folder_above(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

EvictCandidate candidate_of(const ListedReplica& one, const FolderPolicy& policy,
                            const EvictionFacts& facts) {
    return {.bytes = one.bytes,
            .clean = one.state == ReplicaState::clean,
            .open = facts.is_used(one.name),
            .pinned = policy.pinned,
            .heat = one.heat,
            .used_ns = one.used_ns};
}

std::vector<ReplicaName> names_of(const std::vector<ListedReplica>& replicas,
                                  const std::vector<std::size_t>& chosen) {
    std::vector<ReplicaName> names;
    names.reserve(chosen.size());
    for (const std::size_t i : chosen) {
        names.push_back(replicas[i].name);
    }
    return names;
}

}  // namespace

std::vector<ReplicaName> coldest_to_evict(MemoryReplicaList& list, const EvictSituation& situation,
                                          const EvictionFacts& facts) {
    if (situation.used_bytes <= situation.high_bytes) {
        return {};
    }
    for (std::size_t asked = asked_at_first;;) {
        const std::vector<ListedReplica> coldest = list.coldest(asked);
        std::vector<EvictCandidate> candidates;
        candidates.reserve(coldest.size());
        bool some_are_pinned = false;
        for (const ListedReplica& one : coldest) {
            candidates.push_back(candidate_of(one, facts.policy_of(one.path), facts));
            if (candidates.back().pinned) {
                list.set_aside(folder_above(one.path));
                some_are_pinned = true;
            }
        }
        const std::vector<std::size_t> chosen = to_evict(candidates, situation);
        if (coldest.size() < asked || makes_room(candidates, chosen, situation)) {
            return names_of(coldest, chosen);
        }
        // Others take the place of those that are pinned now.
        asked *= some_are_pinned ? 1 : growth;
    }
}

std::vector<ReplicaName> expired_to_evict(const MemoryReplicaList& list, std::int64_t now_ns,
                                          const EvictionFacts& facts) {
    std::vector<ListedReplica> expired;
    std::vector<EvictCandidate> candidates;
    for (const std::string& folder : list.folders()) {
        const FolderPolicy policy = facts.policy_of(folder + "/x");
        if (policy.live_ns == 0 || policy.pinned) {
            continue;
        }
        for (ListedReplica& one : list.unused_since(folder, now_ns - policy.live_ns)) {
            candidates.push_back(candidate_of(one, policy, facts));
            candidates.back().live_ns = policy.live_ns;
            expired.push_back(std::move(one));
        }
    }
    const EvictSituation roomy{.now_ns = now_ns,
                               .high_bytes = std::numeric_limits<std::int64_t>::max()};
    return names_of(expired, to_evict(candidates, roomy));
}

}  // namespace forebay::tier
