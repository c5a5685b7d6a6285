// The work of a replay for each file of a journal: which bytes it must write again, and whether
// it may, or somebody else has changed the file since the daemon died.
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

// Bytes to be written to the file; they lie in the journal's memory.
struct JournalRun {
    Offset at;
    std::span<const std::byte> bytes;
};

struct ReplayPlan {
    std::uint64_t number = 0;  // number of the file in the journal
    JournalFileFacts facts;
    std::string path;
    // Length and times of the file when the daemon last saw it, if the daemon has not changed it
    // since.
    std::optional<ports::ChangeStamp> stamp;
    // Else the time when the daemon last said that it was alive: it may have changed the file until
    // then, and up to slack_ns later.
    std::int64_t lived_ns = 0;

    std::vector<JournalRun> runs;  // by offset; they do not overlap
    // The file is first truncated to `cut`, if that is given; after the runs are written, it is
    // extended to `length_min`, if it is shorter.
    std::optional<Length> cut;
    Length length_min{};

    // The bytes of all runs together.
    [[nodiscard]] Length bytes() const;
    [[nodiscard]] bool empty() const noexcept { return runs.empty() && !cut; }
};

// A plan for each file with records that are not settled. The runs refer to memory of the groups.
[[nodiscard]] std::vector<ReplayPlan> replay_plans_of(std::span<const Group> groups);

// A file as the replay finds it.
struct FoundFile {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;  // 0: the file system has none
    ports::ChangeStamp stamp;
};

enum class Verdict {
    apply,
    missing,    // there is no such file
    other,      // another file has its name
    changed,    // somebody else has changed it since
    elsewhere,  // it is outside of the places where a replay may write: see ReplayFiles
};
// How long after its last sign of life a daemon may still have changed a file (2 s); clocks of node
// and file system may differ by as much.
inline constexpr std::int64_t slack_ns = 2'000'000'000;

// Whether the plan may be applied to the file that was found. nullopt: none was. Pure: compares
// what the journal says about the file with what it is now.
[[nodiscard]] Verdict judge(const ReplayPlan& replay_plan,
                            const std::optional<FoundFile>& found) noexcept;

}  // namespace forebay::pool::journal
