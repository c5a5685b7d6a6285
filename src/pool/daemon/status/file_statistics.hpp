// Statistics of files for the status report. The directory forgets a file that is closed and
// drained, but users ask about it afterwards.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/daemon/status/count_samples.hpp"
#include "pool/daemon/status/meter.hpp"
#include "pool/daemon/status/wait_histogram.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace forebay::daemon {

// The totals of one path, over all times that a file was known to the pool under it.
struct FileTotals {
    std::string path;
    pool::FileState state = pool::FileState::free;  // free: no process has it open any more
    pool::ThroughReason reason =
        pool::ThroughReason::none;  // the first reason for which it was not pooled
    int error = 0;                  // the last errno of draining
    std::int64_t taken = 0;
    std::int64_t drained = 0;
    std::int64_t window = 0;
    std::int64_t high = 0;        // maximum of outstanding()
    std::int64_t extents = 0;     // at present
    std::int64_t oldest_ns = 0;   // age of its oldest deposit
    std::int64_t waited_ns = 0;   // time that its clients waited for the daemon, added up
    std::int64_t opening_ns = 0;  // the parts of it by WaitKind; the rest was for room
    std::int64_t syncing_ns = 0;
    std::int64_t draining_ns = 0;
    std::int64_t syncs = 0;  // how many syncs they waited for
    // How long the file system has not answered, if requests are in flight.
    std::int64_t silent_ns = 0;
    std::int64_t storage_ns = 0;
    std::int64_t storage_bytes = 0;
    std::int64_t requests = 0;
    std::int64_t times = 0;  // how often the file became known to the pool

    [[nodiscard]] std::int64_t outstanding() const noexcept { return taken - drained; }
};

class FileStatistics {
public:
    // How many closed files are kept. The totals of further ones are dropped.
    static constexpr std::size_t closed_files_max = 10000;

    explicit FileStatistics(const pool::Directory& directory) : directory_{directory} {}

    // The meter for a file that is about to be opened: its present one, if the file is known.
    [[nodiscard]] std::shared_ptr<StorageMeter> meter_of(const ports::FileIdentity& identity) const;
    void opened(std::uint32_t slot, const ports::FileIdentity& identity,
                std::shared_ptr<StorageMeter> meter);
    // The time in which the file system has a request of any file.
    [[nodiscard]] std::shared_ptr<BusyTime> busy() const noexcept { return busy_; }
    // A client has waited this long for an answer about the file.
    void waited(std::uint32_t slot, std::int64_t ns, WaitKind kind);
    // How long clients waited for each of these answers, also those about files that are dropped.
    [[nodiscard]] const WaitHistograms& waits() const noexcept { return waits_; }
    // Reads the directory, and ends the totals of files that the pool has forgotten. Must be called
    // before a slot can be given to another file.
    void update();
    // The slots of known files.
    [[nodiscard]] std::vector<std::uint32_t> slots() const;
    [[nodiscard]] std::vector<FileTotals> all_totals(std::int64_t now_ns) const;
    // The sums over all_totals(), as of the last update(). Cheaper, since it looks at no extents.
    [[nodiscard]] SampledCounts counts() const;
    // The number of closed files whose totals were dropped.
    [[nodiscard]] std::int64_t dropped() const noexcept { return dropped_; }

private:
    struct Known {
        std::uint32_t generation = 0;
        ports::FileIdentity identity;
        std::shared_ptr<StorageMeter> meter;  // shared with the file's MeteredStorage objects
        FileTotals totals;
        std::int64_t asked_ns = 0;  // how long clients waited for answers
    };
    void update(std::uint32_t slot, Known& known) const;

    const pool::Directory& directory_;
    // Shared with the MeteredStorage objects of all files.
    std::shared_ptr<BusyTime> busy_ = std::make_shared<BusyTime>();
    std::map<std::uint32_t, Known> known_;  // by slot
    std::map<std::string, FileTotals> ended_;
    std::int64_t dropped_ = 0;
    WaitHistograms waits_;
};

}  // namespace forebay::daemon
