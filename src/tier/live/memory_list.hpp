// The list of replicas in memory, for a process that serves a tier: it is made from the replicas
// when the process starts, and costs no sync for each file that is created.
#pragma once

#include "tier/catalogue/replica_list.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace forebay::tier {

class MemoryReplicaList final : public ReplicaList {
public:
    Result<void> put(const ListedReplica& replica) override;
    Result<void> remove(const ReplicaName& name) override;
    [[nodiscard]] Result<std::optional<ListedReplica>> find(const ReplicaName& name) override;
    // `visitor` may change the list.
    Result<void> visit(const std::string& path,
                       const std::function<void(const ListedReplica&)>& visitor) override;
    [[nodiscard]] Result<ListedSums> sums(const std::string& path) override;
    Result<void> replace(const std::function<Result<void>()>& fill) override;

    [[nodiscard]] std::vector<ListedReplica> all_below(const std::string& path) const;
    // Those whose files lack bytes.
    [[nodiscard]] std::vector<ListedReplica> all_waiting() const;

private:
    mutable std::mutex mutex_;
    std::map<ReplicaName, ListedReplica> replicas_;
    std::set<ReplicaName> waiting_;
};

}  // namespace forebay::tier
