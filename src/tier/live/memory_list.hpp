// The list of replicas in memory, for a process that serves a tier: it is made from the replicas
// when the process starts, and costs no sync for each file that is created. It is made for millions
// of them: a folder's path is kept once, with the sums of what is in it.
#pragma once

#include "tier/catalogue/replica_list.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace forebay::tier {

class MemoryReplicaList final : public ReplicaList {
public:
    MemoryReplicaList() = default;
    MemoryReplicaList(const MemoryReplicaList&) = delete;
    MemoryReplicaList& operator=(const MemoryReplicaList&) = delete;
    ~MemoryReplicaList() override = default;

    // Keeps the heat of a replica that is listed already, and the later time of use.
    Result<void> put(const ListedReplica& replica) override;
    Result<void> remove(const ReplicaName& name) override;
    [[nodiscard]] Result<std::optional<ListedReplica>> find(const ReplicaName& name) override;
    // `visitor` may change the list.
    Result<void> visit(const std::string& path,
                       const std::function<void(const ListedReplica&)>& visitor) override;
    // Takes time for each folder, not for each replica.
    [[nodiscard]] Result<ListedSums> sums(const std::string& path) override;
    Result<void> replace(const std::function<Result<void>()>& fill) override;

    [[nodiscard]] bool has(const ReplicaName& name) const;
    // A program has opened the file at this time (CLOCK_REALTIME).
    void note_use(const ReplicaName& name, std::int64_t now_ns);
    // Paths of folders with replicas in them.
    [[nodiscard]] std::vector<std::string> folders() const;
    // In the order of paths.
    [[nodiscard]] std::vector<ListedReplica> all_below(const std::string& path) const;
    // Those whose files lack bytes.
    [[nodiscard]] std::vector<ListedReplica> all_waiting() const;

private:
    struct NameHash {
        std::size_t operator()(const ReplicaName& name) const noexcept;
    };
    struct Entry {
        std::uint64_t generation = 0;
        std::int64_t bytes = 0;
        std::int64_t used_ns = 0;
        std::int64_t dirtied_ns = 0;
        double heat = 0;
        ReplicaState state = ReplicaState::none;
        std::uint32_t folder = 0;
        std::string base{};  // the file's name in its folder
        // The others of the folder.
        const ReplicaName* name = nullptr;
        Entry* before = nullptr;
        Entry* after = nullptr;
    };
    struct Folder {
        std::string path{};  // "" is the root
        Entry* first = nullptr;
        ListedSums sums{};
    };

    // All of these want the mutex.
    void link(Entry& entry, std::string_view path);
    void unlink(Entry& entry);
    std::uint32_t folder_at(std::string_view path);
    [[nodiscard]] ListedReplica shown(const Entry& entry) const;
    void visit_below(const std::string& path,
                     const std::function<void(const Folder&)>& whole_folder,
                     const std::function<void(const Entry&)>& file) const;

    mutable std::mutex mutex_;
    std::unordered_map<ReplicaName, Entry, NameHash> replicas_;
    std::set<ReplicaName> waiting_;
    std::vector<Folder> folders_;
    std::vector<std::uint32_t> unused_folders_;
    std::unordered_map<std::string, std::uint32_t> folder_numbers_;
};

}  // namespace forebay::tier
