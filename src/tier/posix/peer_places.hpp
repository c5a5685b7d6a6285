// The fast places of other tiers, where they are folders beside one's own: nodes that share fast
// storage. A place tells by its lock whether its tier is alive, and takes requests.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/catalogue/replica_list.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace forebay::tier {

// A tier that has the place says so every `lease_renewed`, for file systems whose locks are seen by
// one node only. Without that for `lease_expires` it counts as dead.
inline constexpr std::int64_t lease_renewed_ns = 5'000'000'000;
inline constexpr std::int64_t lease_expires_ns = 60'000'000'000;

class PeerPlaces {
public:
    // `place` is the own place; the others are beside it. Threads may use this object at once.
    explicit PeerPlaces(std::string place);

    // The path of the place with this number (FastPlace::owner()); nullopt: it is not here.
    [[nodiscard]] std::optional<std::string> find(std::uint64_t owner);
    // Whether a tier has the place: by its lock, and where another node has locked it, also by its
    // lease.
    [[nodiscard]] static bool is_used(const std::string& place);
    // Asks the tier that has the place to move a file. Asking twice is as asking once.
    static Result<void> ask(const std::string& place, const ReplicaName& name);

private:
    std::string own_;
    std::string parent_;
    std::mutex mutex_;  // protects places_
    std::map<std::uint64_t, std::string> places_;
};

}  // namespace forebay::tier
