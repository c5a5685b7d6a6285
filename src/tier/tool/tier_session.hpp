// Carries out a user's orders by hand, for `forebay-tier`: on a fast place that no running tier
// has.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/index/replica_index.hpp"
#include "tier/mover/replicas.hpp"
#include "tier/policy/folder_policy.hpp"
#include "tier/posix/fast_folder.hpp"
#include "tier/posix/global_folder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::tier {

// Where the bytes of a file are.
struct TieredPlace {
    std::string path{};
    std::optional<ReplicaRecord> replica{};  // nullopt: there is none in this place
    std::int64_t replica_bytes = 0;
    std::optional<FileMarker> marker{};  // what the file says to others
    std::uint64_t owner = 0;             // of the place that was asked
};

class TierSession {
public:
    // The list of a place, within its folder.
    static constexpr const char* list_name = "list.sqlite";

    // Opens the fast place and the folder of the parallel file system, and sets all replicas right
    // if the list was missing or damaged.
    [[nodiscard]] static Result<std::unique_ptr<TierSession>> open(const std::string& fast,
                                                                   const std::string& global);

    [[nodiscard]] Result<TieredPlace> stat(const std::string& path);
    // Copies a file to fast storage; one that is there stays.
    Result<void> fill(const std::string& path);
    // Moves what the file lacks, and returns when it is there.
    Result<void> sync(const std::string& path);
    // Removes the file's replica. Refused while the file lacks bytes of it.
    Result<void> evict(const std::string& path);
    [[nodiscard]] Result<ListedSums> sums(const std::string& path) { return list_->sums(path); }
    // Sets all replicas right, and makes the list again. Returns those that were not.
    [[nodiscard]] Result<std::vector<RecoveredReplica>> rebuild();
    // Paths of files that lack bytes of their replicas, as the list has them.
    [[nodiscard]] Result<std::vector<std::string>> waiting() { return list_->waiting(); }

private:
    TierSession(std::unique_ptr<FastFolder> fast, std::unique_ptr<GlobalFolder> global,
                std::unique_ptr<ReplicaIndex> list);

    struct OpenReplica {
        ReplicaName name{};
        std::unique_ptr<TieredFile> file{};
        std::unique_ptr<TieredFile> replica{};  // null: there is none
        std::optional<ReplicaRecord> record{};
    };
    // A file and its replica, set right.
    [[nodiscard]] Result<OpenReplica> open_replica(const std::string& path);
    [[nodiscard]] TierParts parts() { return {*fast_, *global_, *list_}; }

    std::unique_ptr<FastFolder> fast_;
    std::unique_ptr<GlobalFolder> global_;
    std::unique_ptr<ReplicaIndex> list_;
    CopyMemory memory_;
};

// A folder's own policy; nullopt: it has none, and that of a folder above holds.
[[nodiscard]] Result<std::optional<FolderPolicy>> read_policy(const std::string& folder);
// Parses a policy, and keeps it on the folder.
[[nodiscard]] Result<FolderPolicy> write_policy(const std::string& folder, std::string_view text);

}  // namespace forebay::tier
