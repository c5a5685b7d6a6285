// Port to the list of all replicas of a fast place: what is asked often, and can be made again from
// the replicas themselves.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/catalogue/replica_state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::tier {

// A replica's name: which file of the parallel file system it is of.
struct ReplicaName {
    std::uint64_t file_system = 0;  // as VersionStamp::file_system
    std::uint64_t inode = 0;
    auto operator<=>(const ReplicaName&) const noexcept = default;
};
// As "2a-1f", hexadecimal, and back; nullopt: no replica is called so.
[[nodiscard]] std::string text_of(const ReplicaName& name);
[[nodiscard]] std::optional<ReplicaName> parse_replica_name(std::string_view text);

struct ListedReplica {
    ReplicaName name{};
    ReplicaState state = ReplicaState::none;
    std::uint64_t generation = 0;
    std::int64_t bytes = 0;
    double heat = 0;              // see tier/policy/heat.hpp
    std::int64_t used_ns = 0;     // CLOCK_REALTIME, as all times here
    std::int64_t dirtied_ns = 0;  // 0: not dirty
    std::string path{};           // of the file
    bool operator==(const ListedReplica&) const = default;
};

// How much the list holds, by what may happen to it.
struct ListedSums {
    std::int64_t replicas = 0;
    std::int64_t bytes = 0;
    std::int64_t waiting = 0;        // dirty or moving
    std::int64_t waiting_bytes = 0;  // of these
    bool operator==(const ListedSums&) const noexcept = default;
};

class ReplicaList {
public:
    virtual ~ReplicaList() = default;
    virtual Result<void> put(const ListedReplica& replica) = 0;
    virtual Result<void> remove(const ReplicaName& name) = 0;
    [[nodiscard]] virtual Result<std::optional<ListedReplica>> find(const ReplicaName& name) = 0;
    // Calls `visit` for each replica of files at or below `path`, in the order of paths.
    virtual Result<void> visit(const std::string& path,
                               const std::function<void(const ListedReplica&)>& visitor) = 0;
    [[nodiscard]] virtual Result<ListedSums> sums(const std::string& path) = 0;
    // Replaces everything: all of `fill`'s puts become visible together, or none.
    virtual Result<void> replace(const std::function<Result<void>()>& fill) = 0;
};

}  // namespace forebay::tier
