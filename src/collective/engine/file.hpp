// A file that is open for collective calls: the interface of the engine. Every call is collective
// over the communicator, unless it says otherwise, and all ranks get the same class of outcome.
#pragma once

#include "collective/plan/refusal.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/slow_target.hpp"
#include "foundation/base/units.hpp"
#include "foundation/pattern/copy.hpp"
#include "foundation/pattern/view.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/communicator.hpp"
#include "foundation/ports/imagined.hpp"
#include "foundation/ports/lending.hpp"
#include "foundation/ports/recorder.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/policy/throttle.hpp"
#include "storage/policy/tuning.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace forebay::engine {

using plan::reason_of;
using plan::Refusal;

struct CollectiveCall {
    const pattern::View* view = nullptr;
    pattern::ViewRange request;
    pattern::RankMemory memory;
    Refusal refusal = Refusal::none;  // this rank's own reason to leave the call to the MPI
};

struct CallOutcome {
    Refusal refusal = Refusal::none;  // not none: all ranks leave the call to the MPI
    Length bytes;                     // bytes of this rank that were moved
    Extent span;                      // from the first to the last byte of all ranks
    std::optional<Error> error;       // the same class on every rank
    // The slowest target if it counts as slow; the same on every rank.
    std::optional<SlowTarget> slow;
    // The average k of the targets without the slow one, the same on every rank. Limit 0: the call
    // failed, or no k was found.
    plan::FoundLimit found;
};

// Opens the file for `direction` on this rank. It is called at most once per direction, and only on
// ranks that read or write the file themselves.
using StorageOpener =
    std::function<Result<std::unique_ptr<ports::FileStorage>>(IoDirection direction)>;

struct FileOptions {
    std::string path;  // for error messages
    FileStripes layout;
    plan::Tuning tuning;
    std::int32_t aggregators_per_node_max = 1;  // depends on cores and network interfaces
    std::optional<ports::FileIdentity>
        identity;  // of the file that was opened; nullopt: unknown to this rank
    ports::Imagined* imagined = nullptr;        // simulator's hook; null in a real run
    ports::MemoryBorrower* borrower = nullptr;  // reaches lent memory; null: none is lent
    std::array<plan::FoundLimit, 2> known;      // k of earlier runs, for writes and for reads
    bool only_read = false;                     // the handle is read-only
};

class CollectiveFile {
public:
    // The communicator's node memory must have at least node_segment_bytes() bytes; its pages are
    // touched only as far as they are used. One call at a time may use it: several files may share
    // it if their calls do not run at the same time.
    CollectiveFile(ports::Communicator& communicator, const ports::TimeSource& clock,
                   ports::CallRecorder& recorder, StorageOpener opener, FileOptions options);
    ~CollectiveFile();
    CollectiveFile(const CollectiveFile&) = delete;
    CollectiveFile& operator=(const CollectiveFile&) = delete;

    // Collective; each rank's request may be empty. write() returns when the storage has the bytes
    // of all ranks: the file system, or the pool. read() returns when this rank's memory has its
    // bytes.
    CallOutcome write(const CollectiveCall& call);
    CallOutcome read(const CollectiveCall& call);

    // Forgets that the last call bypassed, so that the next one agrees before it moves bytes. To be
    // called on every rank when the MPI has moved data in a collective call, or may have: when this
    // rank goes on, some of that data may still be under way on another rank.
    void agree_first_next() noexcept;

    // Local: sync() makes this rank's writes durable, close() closes its storage. The caller agrees
    // on errors.
    Result<void> sync();
    Result<void> close();
    // Collective: all ranks get the same error, or none if every rank's own is nullopt.
    std::optional<Error> agree(const std::optional<Error>& mine);

    // The ranks of the aggregators, for records and MPI_File_get_info.
    [[nodiscard]] std::string aggregators() const;  // "0,4,8"
    [[nodiscard]] std::int32_t targets() const noexcept;
    // The k from the last call in this direction that found one; the same on every rank. Limit 0:
    // no call has found one.
    [[nodiscard]] const plan::FoundLimit& found(IoDirection direction) const noexcept;

    // Bytes of node memory that a communicator of `ranks` ranks must provide.
    [[nodiscard]] static std::size_t node_segment_bytes(std::int32_t ranks,
                                                        std::int64_t staging_bytes_max);

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::engine
