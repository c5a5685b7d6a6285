// The journal of a daemon: opened, and what another daemon left in it written to its files first.
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
    std::string folder;      // an absolute path; empty: no journal is kept
    bool keeps = true;       // false: only what another daemon left is looked at
    std::int64_t bytes = 0;  // at most
    std::vector<std::string> rescue_folders;
    // Files below these paths are written to by a replay, as the kernel names them; others are kept
    // in rescue files. Nothing: wherever they are.
    std::vector<std::string> below;
};

struct KeptJournal {
    std::unique_ptr<adapters::JournalFolder> folder;
    std::unique_ptr<pool::JournalWriter> writer;
    std::vector<std::string> notes;  // what people are to know of the replay
};

// The clock (CLOCK_REALTIME) outlives it.
[[nodiscard]] Result<KeptJournal> open_journal(const JournalOptions& options,
                                               const ports::TimeSource& calendar);

}  // namespace forebay::daemon
