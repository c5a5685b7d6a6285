// The fate of each file: the directory forgets a file that is closed and drained, people ask about
// it afterwards.
#pragma once

#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/daemon/status/meter.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace forebay::daemon {

// One file, by its path: all times that it was known to the pool together.
struct FileTotals {
    std::string path;
    pool::FileState state = pool::FileState::free;  // free: nobody has it open any more
    pool::ThroughReason reason =
        pool::ThroughReason::none;  // the first one that it was not pooled for
    int error = 0;                  // the last one
    std::int64_t taken = 0;
    std::int64_t drained = 0;
    std::int64_t window = 0;
    std::int64_t high = 0;  // most that was outstanding
    std::int64_t extents = 0;
    std::int64_t oldest_ns = 0;  // age of its oldest deposit
    std::int64_t waited_ns = 0;  // how long its users waited, added up
    std::int64_t silent_ns = 0;  // that the file system has owed an answer
    std::int64_t storage_ns = 0;
    std::int64_t storage_bytes = 0;
    std::int64_t requests = 0;
    std::int64_t times = 0;  // it became known

    [[nodiscard]] std::int64_t outstanding() const noexcept { return taken - drained; }
};

class FileStatistics {
public:
    // Files that are closed, and whose totals are kept; those of further ones are dropped.
    static constexpr std::size_t closed_files_max = 10000;

    explicit FileStatistics(const pool::Directory& directory) : directory_{directory} {}

    // The meter of a file that is about to be opened: the one it has, if it is known.
    [[nodiscard]] std::shared_ptr<StorageMeter> meter_of(const ports::FileIdentity& identity) const;
    void opened(std::uint32_t slot, const ports::FileIdentity& identity,
                std::shared_ptr<StorageMeter> meter);
    // Somebody waited for what was asked of the file.
    void waited(std::uint32_t slot, std::int64_t ns);
    // Looks at the directory, and ends the totals of files that the pool has forgotten. Before a
    // slot gets another file, this must have been called.
    void update();
    // Slots of files that are known.
    [[nodiscard]] std::vector<std::uint32_t> slots() const;
    [[nodiscard]] std::vector<FileTotals> all_totals(std::int64_t now_ns) const;
    // Files whose totals were not kept.
    [[nodiscard]] std::int64_t dropped() const noexcept { return dropped_; }

private:
    struct Known {
        std::uint32_t generation = 0;
        ports::FileIdentity identity;
        std::shared_ptr<StorageMeter> meter;  // shared with the file's storages
        FileTotals totals;
        std::int64_t asked_ns = 0;  // how long clients waited for answers
    };
    void update(std::uint32_t slot, Known& known) const;

    const pool::Directory& directory_;
    std::map<std::uint32_t, Known> known_;  // by slot
    std::map<std::string, FileTotals> ended_;
    std::int64_t dropped_ = 0;
};

}  // namespace forebay::daemon
