// A map behind a mutex.
#include "tier/live/memory_list.hpp"

#include "foundation/base/folder_path.hpp"

#include <algorithm>

namespace forebay::tier {

namespace {

bool waits(const ListedReplica& one) noexcept {
    return one.state == ReplicaState::dirty || one.state == ReplicaState::moving;
}

}  // namespace

Result<void> MemoryReplicaList::put(const ListedReplica& replica) {
    const std::lock_guard lock{mutex_};
    replicas_[replica.name] = replica;
    if (waits(replica)) {
        waiting_.insert(replica.name);
    } else {
        waiting_.erase(replica.name);
    }
    return {};
}

Result<void> MemoryReplicaList::remove(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    replicas_.erase(name);
    waiting_.erase(name);
    return {};
}

Result<std::optional<ListedReplica>> MemoryReplicaList::find(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    const auto found = replicas_.find(name);
    return found == replicas_.end() ? std::nullopt : std::optional{found->second};
}

std::vector<ListedReplica> MemoryReplicaList::all_below(const std::string& path) const {
    std::vector<ListedReplica> all;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [name, replica] : replicas_) {
            if (FolderPath{path}.holds(replica.path)) {
                all.push_back(replica);
            }
        }
    }
    std::ranges::sort(all, {}, &ListedReplica::path);
    return all;
}

std::vector<ListedReplica> MemoryReplicaList::all_waiting() const {
    std::vector<ListedReplica> all;
    const std::lock_guard lock{mutex_};
    all.reserve(waiting_.size());
    for (const ReplicaName& name : waiting_) {
        all.push_back(replicas_.at(name));
    }
    return all;
}

Result<void> MemoryReplicaList::visit(const std::string& path,
                                      const std::function<void(const ListedReplica&)>& visitor) {
    std::ranges::for_each(all_below(path), visitor);
    return {};
}

Result<ListedSums> MemoryReplicaList::sums(const std::string& path) {
    ListedSums sums;
    for (const ListedReplica& one : all_below(path)) {
        const bool is_waiting = waits(one);
        ++sums.replicas;
        sums.bytes += one.bytes;
        sums.waiting += is_waiting ? 1 : 0;
        sums.waiting_bytes += is_waiting ? one.bytes : 0;
    }
    return sums;
}

// Only one process has the list, and it makes it anew before anybody asks.
Result<void> MemoryReplicaList::replace(const std::function<Result<void>()>& fill) {
    {
        const std::lock_guard lock{mutex_};
        replicas_.clear();
        waiting_.clear();
    }
    return fill();
}

}  // namespace forebay::tier
