// The port FastPlace over a folder of the user's own:
//
//   identity         the place's number, and the key of its records
//   replicas/NAME    a replica (text_of(ReplicaName)), with its record in an extended attribute
//   new/NAME         one that is being made
//   records/NAME     its record, where there are no extended attributes
//   rescue/NAME.N    bytes that are kept for the user, with rescue/NAME.N.txt saying why
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "tier/mover/ports.hpp"
#include "tier/posix/record_store.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace forebay::tier {

class FastFolder final : public FastPlace {
public:
    // Opens the place at `path`, and makes it if it is missing. Nobody but the user may write to
    // it. One process has it at a time: ErrorCode::access with EWOULDBLOCK if another one does.
    [[nodiscard]] static Result<std::unique_ptr<FastFolder>> open(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t owner() const override { return owner_; }
    [[nodiscard]] const RecordKey& key() const override { return key_; }

    [[nodiscard]] Result<std::unique_ptr<TieredFile>> create(const ReplicaName& name) override;
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
    OwnFd lock_;
    OwnFd replicas_;
    OwnFd new_;
    OwnFd rescue_;
    SidecarFolder sidecars_;
    RecordStore records_;
    std::uint64_t owner_ = 0;
    RecordKey key_{};
};

}  // namespace forebay::tier
