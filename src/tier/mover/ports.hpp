// The two places that files are moved between, as ports: fast storage with its replicas, and the
// parallel file system.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/stripes.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"
#include "tier/catalogue/replica_list.hpp"
#include "tier/catalogue/tier_record.hpp"
#include "tier/catalogue/version_stamp.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::tier {

// An open file in one of the two places. Its record is an extended attribute, or a file beside it
// where there are none.
class TieredFile {
public:
    virtual ~TieredFile() = default;

    // Requests for its bytes; lives as long as this object.
    [[nodiscard]] virtual ports::FileStorage& storage(IoDirection direction) = 0;
    [[nodiscard]] virtual FileStripes stripes() const { return {}; }
    [[nodiscard]] virtual Result<VersionStamp> stamp() = 0;
    // The first run of bytes at or behind `from` that are not a hole; nullopt: none up to the end.
    // Where the file system does not tell, all bytes are one run.
    [[nodiscard]] virtual Result<std::optional<Extent>> next_data(Offset from) = 0;
    // Afterwards these bytes are zeros; a hole where the file system can make one. The length
    // stays.
    virtual Result<void> make_hole(const Extent& extent) = 0;
    virtual Result<void> set_length(Length bytes) = 0;
    virtual Result<void> set_modified(std::int64_t time_ns) = 0;
    // Makes bytes, length, times and record durable.
    virtual Result<void> sync() = 0;
    // nullopt: it has none.
    [[nodiscard]] virtual Result<std::optional<std::vector<std::byte>>> record() = 0;
    virtual Result<void> set_record(std::span<const std::byte> bytes) = 0;
    virtual Result<void> remove_record() = 0;
    // Closes what storage() has opened: a file that stays open afterwards needs its descriptor
    // only.
    virtual void close_storage() {}
};

// Fast storage: a folder of replicas. A replica gets its name when it is complete, so that one
// without a record is never seen.
class FastPlace {
public:
    virtual ~FastPlace() = default;

    // A random number that the place got when it was made, and the key of its records.
    [[nodiscard]] virtual std::uint64_t owner() const = 0;
    [[nodiscard]] virtual const RecordKey& key() const = 0;

    // A new, empty file without a name yet; an earlier one of this name that never got it is gone.
    [[nodiscard]] virtual Result<std::unique_ptr<TieredFile>> create(const ReplicaName& name) = 0;
    // Removes the file of create(), which does not get its name, so that it takes no room.
    virtual Result<void> discard(const ReplicaName& name) = 0;
    // Gives the file of create() its name, durably. Contract: it was synced.
    virtual Result<void> publish(const ReplicaName& name) = 0;
    // Null: there is no such replica.
    [[nodiscard]] virtual Result<std::unique_ptr<TieredFile>> open(const ReplicaName& name) = 0;
    // Durably; one that does not exist is no error.
    virtual Result<void> remove(const ReplicaName& name) = 0;
    [[nodiscard]] virtual Result<std::vector<ReplicaName>> names() = 0;
    // Removes what create() has left without a name.
    virtual Result<void> remove_unpublished() = 0;
    // Moves a replica to the rescue folder, with `note` beside it, durably. Returns its path there.
    [[nodiscard]] virtual Result<std::string> rescue(const ReplicaName& name,
                                                     const std::string& note) = 0;
};

// The parallel file system.
class GlobalFiles {
public:
    virtual ~GlobalFiles() = default;
    // The file with this inode number at `path`, open for reading and writing. Null: there is none,
    // or another one. Symbolic links are not followed in the last component.
    [[nodiscard]] virtual Result<std::unique_ptr<TieredFile>> open(const std::string& path,
                                                                   const ReplicaName& name) = 0;
};

// The world of a task. All parts outlive it.
struct TierParts {
    FastPlace& place;
    GlobalFiles& files;
    ReplicaList& list;
};

}  // namespace forebay::tier
