// Replays the journal, and says in notes what was written, what was not, and why.
#include "pool/daemon/replay/open_journal.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/daemon/replay/replay_files.hpp"
#include "pool/journal/replay.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <sodium.h>
#include <system_error>
#include <utility>

namespace forebay::daemon {

namespace {

using pool::journal::Verdict;

// Why the replay has not written a file.
std::string why(const pool::ReplayedFile& one) {
    switch (one.verdict) {
        case Verdict::missing: return "there is no such file any more";
        case Verdict::other: return "another file has its name now";
        case Verdict::elsewhere: return "it is not below a path of this pool";
        case Verdict::changed: return "somebody else has changed the file since";
        case Verdict::apply: break;
    }
    return std::generic_category().message(one.error);
}

std::string note_of(const pool::ReplayedFile& one) {
    std::string note;
    if (!one.kept_in.empty()) {
        note = fmt::format(
            "{} bytes of {} were in the journal and were not written to it ({}). They are kept; if "
            "they belong there, write them by `forebay pool rescue {}`.",
            one.bytes.bytes(), one.path, why(one), one.kept_in);
    } else if (!one.uncut) {
        note = fmt::format("{} bytes of {} were in the journal, and are in the file now.",
                           one.bytes.bytes(), one.path);
    }
    if (one.uncut) {
        note += fmt::format("{}{} was to be cut to {} bytes, and was not ({}). Look at it.",
                            note.empty() ? "" : " ", one.path, one.uncut->bytes(), why(one));
    }
    return note;
}

// Adds notes about how the journal ends: whether its last records may be missing or damaged.
void note_end(const pool::Replay& replayed, const std::string& folder,
              std::vector<std::string>& notes) {
    if (replayed.unfinished) {
        notes.push_back(fmt::format(
            "the journal {} ends with records that are not whole, and were left out. If the node "
            "or the daemon went down while they were written, no write that had returned was among "
            "them; else its disk has damaged them: look at what was written last.",
            folder));
    } else if (!replayed.files.empty()) {
        notes.push_back(fmt::format(
            "all that the journal {} is known to have had is there. If its disk has lost all of a "
            "write that returned less than 20 ms before the node or the daemon went down, nothing "
            "shows it, unless an fsync had returned behind it.",
            folder));
    }
    if (replayed.head_damaged) {
        notes.push_back(fmt::format(
            "one of the two heads of the journal {} is not whole. It was being written when the "
            "node or the daemon went down, or its disk has damaged it; the other one is whole.",
            folder));
    }
}

}  // namespace

Result<KeptJournal> open_journal(const JournalOptions& options, const ports::TimeSource& calendar) {
    KeptJournal kept;
    if (options.folder.empty()) {
        return kept;
    }
    auto folder = adapters::JournalFolder::open(options.folder);
    if (!folder) {
        return failure(std::move(folder.error()));
    }
    kept.folder = std::move(*folder);
    if (sodium_init() < 0) {  // sodium_init() chooses the fastest implementation for this CPU
        return failure({ErrorCode::input_output, 0,
                        "cannot keep a journal (libsodium does not start on this machine)."});
    }
    std::random_device chance;
    StoredReplayFiles files{options.rescue_folders, calendar.now_ns(), options.below};
    auto replayed = pool::replay(*kept.folder, calendar, files,
                                 {.life = std::uint64_t{chance()} << 32U | chance(),
                                  .segments_max = static_cast<std::size_t>(std::max<std::int64_t>(
                                      options.bytes / kept.folder->segment_bytes(), 1))});
    if (!replayed) {
        Error error = std::move(replayed.error());
        error.message += fmt::format(" (the journal is {})", options.folder);
        return failure(std::move(error));
    }
    for (const pool::ReplayedFile& one : replayed->files) {
        kept.notes.push_back(note_of(one));
    }
    note_end(*replayed, options.folder, kept.notes);
    kept.writer = std::move(replayed->writer);
    invariant(kept.writer != nullptr, "a replay that went well leaves a journal to write to");
    if (!options.keeps) {
        static_cast<void>(kept.writer->finish(true));
        kept.writer.reset();
        kept.folder.reset();
    }
    return kept;
}

}  // namespace forebay::daemon
