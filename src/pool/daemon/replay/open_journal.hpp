// Opens the daemon's journal. If an earlier daemon has left deposits in it, they are first written
// to their files (replay).
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/journal/journal_writer.hpp"
#include "storage/posix/journal_folder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace forebay::daemon {

struct JournalOptions {
    std::string folder;      // an absolute path; empty: there is no journal
    bool keeps = true;       // false: an existing journal is replayed, but none is written
    std::int64_t bytes = 0;  // the maximum size
    std::vector<std::string> rescue_folders;
    // A replay writes only to files below these paths, with symbolic links resolved; what belongs
    // to other files goes to rescue files. Empty: to files anywhere.
    std::vector<std::string> below;
};

struct KeptJournal {
    std::unique_ptr<adapters::JournalFolder> folder;
    std::unique_ptr<pool::JournalWriter> writer;
    std::vector<std::string> notes;  // messages for users about the replay
};

// `calendar` is CLOCK_REALTIME, and outlives the result.
[[nodiscard]] Result<KeptJournal> open_journal(const JournalOptions& options,
                                               const ports::TimeSource& calendar);

}  // namespace forebay::daemon
