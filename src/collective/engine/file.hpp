// A file open for collective calls: the engine's face to `entry`. Every call is collective over
// the communicator, and all ranks get the same outcome class.
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
    Refusal refusal = Refusal::none;  // this rank's own
};

struct CallOutcome {
    Refusal passed = Refusal::none;  // not none: nothing was done, give the call to the MPI
    Length bytes;                    // of this rank, really moved
    Extent span;                     // from the first byte of any rank to the last one
    std::optional<Error> error;      // the same class on every rank
    std::optional<SlowTarget> slow;  // the slowest, if it is; the same on every rank
    // Mean of the targets but the slow one, unless the call failed; the same on every rank.
    plan::FoundLimit found;
};

// Opens the file for `direction` on this rank; called at most once per direction, on ranks that
// turn out to read or write it.
using StorageOpener =
    std::function<Result<std::unique_ptr<ports::FileStorage>>(IoDirection direction)>;

struct FileOptions {
    std::string path;  // for messages
    FileStripes layout;
    plan::Tuning tuning;
    std::int32_t aggregators_per_node_max = 1;  // follows cores and network interfaces
    std::optional<ports::FileIdentity>
        identity;                         // of the file that was opened, where this rank knows
    ports::Imagined* imagined = nullptr;  // in worlds without the program's bytes
    ports::MemoryBorrower* borrower = nullptr;  // where storage lends memory
    std::array<plan::FoundLimit, 2> known;      // what is remembered of writes and of reads
    bool only_read = false;                     // nobody may write it through this handle
};

class CollectiveFile {
public:
    // The communicator's node memory must be at least node_segment_bytes() large (pages are touched
    // only as far as used), and be used by one file's call at a time (several files may share it
    // when their calls do not run at the same time).
    CollectiveFile(ports::Communicator& communicator, const ports::TimeSource& clock,
                   ports::CallRecorder& recorder, StorageOpener opener, FileOptions options);
    ~CollectiveFile();
    CollectiveFile(const CollectiveFile&) = delete;
    CollectiveFile& operator=(const CollectiveFile&) = delete;

    // Collective; each rank's request may be empty. Blocks until the bytes are with the file
    // system.
    CallOutcome write(const CollectiveCall& call);
    CallOutcome read(const CollectiveCall& call);

    // Every rank, where the MPI has moved data by a call of all ranks, or may have: some of it may
    // still be on its way on another rank when this one goes on.
    void forget() noexcept;

    // Local: makes this rank's writes durable / closes its storage. The caller agrees on errors.
    Result<void> sync();
    Result<void> close();
    // Collective: one outcome from every rank's own (nullopt: fine).
    std::optional<Error> agree(const std::optional<Error>& mine);

    // For records and MPI_File_get_info; of the last plan.
    [[nodiscard]] std::string aggregators() const;  // "0,4,8"
    [[nodiscard]] std::int32_t targets() const noexcept;
    // The k that the last call to find one found in this direction; the same on every rank.
    // Limit 0: none.
    [[nodiscard]] const plan::FoundLimit& found(IoDirection direction) const noexcept;

    // Size of node memory that a communicator of `ranks` ranks must provide.
    [[nodiscard]] static std::size_t node_segment_bytes(std::int32_t ranks,
                                                        std::int64_t staging_bytes_max);

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::engine
