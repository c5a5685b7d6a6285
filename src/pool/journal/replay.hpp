// Writes the journal of a daemon that died to the files, before the next one begins. If the node
// goes down meanwhile, a second replay comes to the same.
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

// A file that is written to. Errnos; 0: done.
class ReplayFile {
public:
    virtual ~ReplayFile() = default;
    [[nodiscard]] virtual journal::FoundFile found() const = 0;
    [[nodiscard]] virtual int set_length(Length bytes) = 0;
    [[nodiscard]] virtual int write(Offset at, std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual int sync() = 0;
    [[nodiscard]] virtual Length length() = 0;
};

class ReplayFiles {
public:
    virtual ~ReplayFiles() = default;
    // It may be written to: it lies in a place given for files.
    [[nodiscard]] virtual bool is_asked_for(const journal::ReplayPlan& /*replay_plan*/) const {
        return true;
    }
    // The one of which the journal tells, if its name, or another one beside it, still leads there;
    // else whatever has its name now. Null: there is none. An error: it cannot be opened.
    [[nodiscard]] virtual Result<std::unique_ptr<ReplayFile>> find(
        const journal::ReplayPlan& replay_plan) = 0;
    // Keeps the bytes elsewhere, durably: where. `error`: errno of what went wrong, or 0.
    [[nodiscard]] virtual Result<std::string> keep(const journal::ReplayPlan& replay_plan,
                                                   int error) = 0;
};

struct ReplayedFile {
    std::string path;
    Length bytes{};
    journal::Verdict verdict = journal::Verdict::apply;
    int error = 0;        // from writing it
    std::string kept_in;  // where its bytes are, which are not in the file; empty: they are
    std::optional<Length> uncut{};  // it was to be cut to this length first, and was not
};

struct ReplayOptions {
    std::uint64_t life = 1;  // a number by chance
    std::size_t segments_max = 64;
    static constexpr std::size_t segments_least = 2;  // one to write to, and the reserve
};

struct Replay {
    std::vector<ReplayedFile> files;
    // See journal::SegmentScan: people are to know of it.
    bool unfinished = false;
    bool head_damaged = false;
    std::unique_ptr<JournalWriter> writer;
};

// An error: nothing of the journal is lost, and nothing more can be written to it: it is damaged,
// its device is full or fails, or what could not be applied could not be kept elsewhere.
[[nodiscard]] Result<Replay> replay(ports::JournalDevice& device, const ports::TimeSource& calendar,
                                    ReplayFiles& files, const ReplayOptions& options);

}  // namespace forebay::pool
