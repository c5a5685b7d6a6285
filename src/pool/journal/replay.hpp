// Replays a journal: writes to the files what a daemon that died had acknowledged and not yet
// written. Runs before the next daemon serves its first client. If the node goes down meanwhile, a
// second replay has the same result.
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/journal_device.hpp"
#include "pool/journal/format/replay_plan.hpp"
#include "pool/journal/journal_writer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::pool {

// A file that is written to. Functions return an errno, or 0.
class ReplayFile {
public:
    virtual ~ReplayFile() = default;
    [[nodiscard]] virtual journal::FoundFile found() const = 0;
    [[nodiscard]] virtual int set_length(Length bytes) = 0;
    [[nodiscard]] virtual int write(Offset at, std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual int sync() = 0;
    [[nodiscard]] virtual Length length() = 0;
};

// The files that a replay may write to, as the machine has them.
class ReplayFiles {
public:
    virtual ~ReplayFiles() = default;
    // True when the file lies where a replay may write. Others get the verdict `elsewhere`.
    [[nodiscard]] virtual bool may_be_written(const journal::ReplayPlan& /*replay_plan*/) const {
        return true;
    }
    // The file that the plan is for, at its path or under another name in the same directory; else
    // the file that has its name now, which judge() recognises as another one. Null: there is none.
    // Error: the file cannot be opened.
    [[nodiscard]] virtual Result<std::unique_ptr<ReplayFile>> find(
        const journal::ReplayPlan& replay_plan) = 0;
    // Writes the bytes of the plan to a rescue file, durably, and returns its path. `error` is the
    // errno for which they could not be written to the file, or 0.
    [[nodiscard]] virtual Result<std::string> keep(const journal::ReplayPlan& replay_plan,
                                                   int error) = 0;
};

struct ReplayedFile {
    std::string path;
    Length bytes{};
    journal::Verdict verdict = journal::Verdict::apply;
    int error = 0;        // errno of writing to it, or 0
    std::string kept_in;  // the rescue file that has its bytes; empty: they are in the file
    // The length to which it was to be truncated first, if that was not done.
    std::optional<Length> uncut{};
};

struct ReplayOptions {
    std::uint64_t life = 1;  // a random number
    std::size_t segments_max = 64;
    static constexpr std::size_t segments_least = 2;  // one to write to, and the reserve
};

struct Replay {
    std::vector<ReplayedFile> files;
    // See journal::SegmentScan. Users are told.
    bool unfinished = false;
    bool head_damaged = false;
    std::unique_ptr<JournalWriter> writer;
};

// An Error means that nothing in the journal is lost, but that the daemon must not write to it: it
// is damaged, its device is full or fails, or bytes that could not be written to their file could
// not be rescued either.
[[nodiscard]] Result<Replay> replay(ports::JournalDevice& device, const ports::TimeSource& calendar,
                                    ReplayFiles& files, const ReplayOptions& options);

}  // namespace forebay::pool
