// The list of replicas in memory, for a process that serves a tier: it is made from the replicas
// when the process starts, and costs no sync for each file that is created. It is made for millions
// of them: a folder's path is kept once, with the sums of what is in it, and which replicas go
// first is kept in order, so that no decision takes time for all of them.
#pragma once

#include "tier/catalogue/replica_list.hpp"
#include "tier/live/indexed_heap.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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
    // Takes time for each folder at or below the path, not for each replica.
    [[nodiscard]] Result<ListedSums> sums(const std::string& path) override;
    Result<void> replace(const std::function<Result<void>()>& fill) override;

    [[nodiscard]] bool has(const ReplicaName& name) const;
    // A program has opened the file at this time (CLOCK_REALTIME).
    void note_use(const ReplicaName& name, std::int64_t now_ns);
    // Paths of folders with replicas in them, in order; "" is the root.
    [[nodiscard]] std::vector<std::string> folders() const;
    // Those folders that have got their first replica since the last call.
    [[nodiscard]] std::vector<std::string> take_new_folders();
    // In the order of paths.
    [[nodiscard]] std::vector<ListedReplica> all_below(const std::string& path) const;
    // Those whose files lack bytes.
    [[nodiscard]] std::vector<ListedReplica> all_waiting() const;
    // The bytes of these, at no cost.
    [[nodiscard]] std::int64_t waiting_bytes() const noexcept {
        return waiting_bytes_.load(std::memory_order_relaxed);
    }
    // The bytes of all replicas, at no cost.
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }
    // Those that have begun or ceased to lack bytes, or lack others, since the last call, and those
    // that were marked since then. Takes time for these only.
    [[nodiscard]] std::vector<ReplicaName> take_changed();
    // Something else is known of the file now; no effect if it lacks no bytes.
    void mark_changed(const ReplicaName& name);
    void mark_all_changed();

    // Up to `count` clean replicas, the coldest first (heat_order()), of folders that are not set
    // aside. Takes time for these, however many there are.
    [[nodiscard]] std::vector<ListedReplica> coldest(std::size_t count) const;
    // Replicas of this folder are not among the coldest until take_back(), which is for all
    // folders.
    void set_aside(std::string_view folder);
    void take_back();
    // Clean replicas in a folder, but not below it, that nobody has used after `until_ns`; in no
    // order. Takes time for these, however many there are.
    [[nodiscard]] std::vector<ListedReplica> unused_since(std::string_view folder,
                                                          std::int64_t until_ns) const;

    // How many replicas and folders all calls together have looked at, other than by name.
    [[nodiscard]] std::uint64_t looked_at() const;

private:
    struct NameHash {
        std::size_t operator()(const ReplicaName& name) const noexcept;
    };
    struct Folder;
    using FolderRow = std::pair<const std::string, Folder>;  // its path; "" is the root
    struct Entry {
        std::uint64_t generation = 0;
        std::int64_t bytes = 0;
        std::int64_t used_ns = 0;
        std::int64_t dirtied_ns = 0;
        double heat = 0;
        ReplicaState state = ReplicaState::none;
        std::uint32_t coldest_place = 0;  // in the heaps of its folder
        std::uint32_t oldest_place = 0;
        FolderRow* folder = nullptr;
        std::string base{};  // the file's name in its folder
    };
    using Row = std::pair<const ReplicaName, Entry>;
    // Replicas that are not clean are the last ones in both orders.
    struct ByHeat {
        using Key = std::pair<double, ReplicaName>;
        [[nodiscard]] static Key key(const Row& row) noexcept;
        [[nodiscard]] static std::uint32_t& place(Row& row) noexcept;
    };
    struct ByUse {
        [[nodiscard]] static std::int64_t key(const Row& row) noexcept;
        [[nodiscard]] static std::uint32_t& place(Row& row) noexcept;
    };
    // By their coldest replicas; those that are set aside are the last ones.
    struct ByColdest {
        [[nodiscard]] static ByHeat::Key key(const FolderRow& row) noexcept;
        [[nodiscard]] static std::uint32_t& place(FolderRow& row) noexcept;
    };
    struct Folder {
        ListedSums sums{};
        IndexedHeap<Row, ByHeat> coldest{};
        IndexedHeap<Row, ByUse> oldest{};
        std::uint32_t place = 0;  // among the folders by their coldest replicas
        bool is_new = true;
        bool is_aside = false;
    };
    class ColdestWalk;

    // All of these want the mutex.
    [[nodiscard]] FolderRow& folder_at(std::string_view path);
    void count(const Entry& entry, std::int64_t sign);  // in the sums of its folder, and of all
    void enter(Row& row, FolderRow& folder);
    void leave(Row& row);
    void settle(Row& row);  // after what its places depend on has changed
    [[nodiscard]] static ListedReplica shown(const Row& row);
    void visit_below(std::string_view path, const std::function<void(const Folder&)>& whole_folder,
                     const std::function<void(const Row&)>& file) const;

    mutable std::mutex mutex_;
    std::unordered_map<ReplicaName, Entry, NameHash> replicas_;
    std::set<ReplicaName> waiting_;
    std::atomic<std::int64_t> waiting_bytes_ = 0;
    std::atomic<std::int64_t> bytes_ = 0;
    std::unordered_set<ReplicaName, NameHash> changed_;  // of those that wait, or have waited
    std::map<std::string, Folder, std::less<>> folders_;
    IndexedHeap<FolderRow, ByColdest> coldest_folders_;
    std::size_t new_folders_ = 0;
    std::vector<std::string> aside_;  // folders
    mutable std::uint64_t looked_at_ = 0;
};

}  // namespace forebay::tier
