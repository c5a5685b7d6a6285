// The replay plan of each file of a journal: which of its bytes are to be written once more, and
// until when the daemon that has died may have changed it.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/journal/format/group.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::pool::journal {

// Bytes of the file, as they lie in the journal.
struct JournalRun {
    Offset at;
    std::span<const std::byte> bytes;
};

struct ReplayPlan {
    std::uint64_t number = 0;  // of the file, in the journal
    JournalFileFacts facts;
    std::string path;
    // Nobody was changing it when this was seen.
    std::optional<ports::ChangeStamp> stamp;
    // Else: the daemon lived at this time, and may have changed it until a little later.
    std::int64_t lived_ns = 0;

    std::vector<JournalRun> runs;  // in order, apart
    // First it is cut to this length, and behind the runs made as long as that.
    std::optional<Length> cut;
    Length length_least{};

    [[nodiscard]] Length bytes() const;
    [[nodiscard]] bool empty() const noexcept { return runs.empty() && !cut; }
};

// The plans for files of which something is not settled, in the order in which they became known.
// The runs point into the groups.
[[nodiscard]] std::vector<ReplayPlan> stories_of(std::span<const Group> groups);

// A file as replay finds it.
struct FoundFile {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;  // 0: not told
    ports::ChangeStamp stamp;
};

enum class Verdict {
    apply,
    missing,    // it is not there
    other,      // another file has its name
    changed,    // somebody else changed it since
    elsewhere,  // it does not lie where files are to be written: see ReplayFiles
};
// By how much later than it last said that it lives a daemon may have changed a file.
inline constexpr std::int64_t slack_ns = 2'000'000'000;

[[nodiscard]] Verdict judge(const ReplayPlan& replay_plan,
                            const std::optional<FoundFile>& found) noexcept;

}  // namespace forebay::pool::journal
