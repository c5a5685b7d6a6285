// The port FastPlace over a folder of the user's own:
//
//   identity         the place's number, and the key of its records
//   replicas/NAME    a replica (text_of(ReplicaName)), with its record in an extended attribute
//   new/NAME         one that is being made
//   records/NAME     its record, where there are no extended attributes
//   lock             held by the tier that has the place, with the boot of its node; its mtime is
//                    the time when that tier was last seen
//   asked/NAME       a tier of another node waits until this file is moved
//   rescue/NAME.N    bytes that are kept for the user, with rescue/NAME.N.txt saying why
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "tier/mover/ports.hpp"
#include "tier/posix/record_store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::tier {

class FastFolder final : public FastPlace {
public:
    // Opens the place at `path`, and makes it if it is missing. Nobody but the user may write to
    // it. One process has it at a time: ErrorCode::access with EWOULDBLOCK if another one does.
    [[nodiscard]] static Result<std::unique_ptr<FastFolder>> open(const std::string& path);

    ~FastFolder() override { release_lease(); }
    FastFolder(const FastFolder&) = delete;
    FastFolder& operator=(const FastFolder&) = delete;

    static constexpr const char* lock_name = "lock";
    static constexpr const char* asked_name = "asked";
    // The number of the place at `path`, whoever has it; nullopt: it is none of this user's.
    [[nodiscard]] static std::optional<std::uint64_t> owner_of(const std::string& path);
    // The paths of the folders in a folder.
    [[nodiscard]] static std::vector<std::string> folders_in(const std::string& path);
    // The boot of the node that last had a place, by its open lock, and that of this node.
    [[nodiscard]] static std::string boot_in(const OwnFd& lock);
    [[nodiscard]] static std::string boot_of_node();

    // Says to other nodes that this process has the place (see lease_renewed_ns).
    void renew_lease() noexcept;
    // Says that it has not any more, so that they need not wait until the lease expires.
    void release_lease() noexcept;
    // The files that others wait for, each once.
    [[nodiscard]] std::vector<ReplicaName> take_asked();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t owner() const override { return owner_; }
    [[nodiscard]] const RecordKey& key() const override { return key_; }

    [[nodiscard]] Result<std::unique_ptr<TieredFile>> create(const ReplicaName& name) override;
    Result<void> discard(const ReplicaName& name) override;
    Result<void> publish(const ReplicaName& name) override;
    [[nodiscard]] Result<std::unique_ptr<TieredFile>> open(const ReplicaName& name) override;
    Result<void> remove(const ReplicaName& name) override;
    [[nodiscard]] Result<std::vector<ReplicaName>> names() override;
    Result<void> remove_unpublished() override;
    [[nodiscard]] Result<std::string> rescue(const ReplicaName& name,
                                             const std::string& note) override;

private:
    FastFolder(std::string path, OwnFd folder);

    Result<void> open_folders();
    Result<void> read_identity();
    Result<void> make_identity();
    [[nodiscard]] std::unique_ptr<TieredFile> file_of(OwnFd fd, const ReplicaName& name);

    std::string path_;
    OwnFd folder_;
    std::uint64_t file_system_;
    OwnFd lock_;
    OwnFd replicas_;
    OwnFd new_;
    OwnFd rescue_;
    OwnFd asked_;
    SidecarFolder sidecars_;
    RecordStore records_;
    std::uint64_t owner_ = 0;
    RecordKey key_{};
};

}  // namespace forebay::tier
