// The ranks that open a file agree on how before they do: rank 0 reads the settings and broadcasts
// the decisions once. So the settings file is read once, not by thousands of ranks, a mistake in it
// fails the open everywhere, and no rank decides alone.
#pragma once

#include "settings/settings.hpp"

#include <array>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

namespace forebay::interposer {

// Whether a file's collective calls are ours; else why not. The same on all its ranks.
enum class Standing : std::uint32_t { ours, disabled, excluded, one_rank, sequential, no_group };

[[nodiscard]] const char* reason_of(Standing standing) noexcept;

struct OpeningDecision {
    std::int32_t failed = 0;  // the settings are wrong: rank 0 said so, the open must fail
    std::int32_t recording = 0;
    Standing standing = Standing::ours;
    std::int32_t make_cached_communicator = 0;
    std::uint64_t cached_communicator = 0;  // label; 0: none
    std::int32_t made = 0;     // rank 0 has made the file, with the layout that hints ask for
    std::int32_t targets = 0;  // of a file that hints gave a layout; 0: not known
    std::int64_t stripe_bytes = 0;
    std::int32_t pooled = 0;  // the file goes through the pool of rank 0's node
    std::int32_t spare = 0;
    // Not 0: through those of several nodes, by this number; see pool/client/calls.hpp.
    std::uint64_t group = 0;
    UserSettings::Numbers settings{};
};

// Rank 0's decision. `path` is empty when the name is no plain path.
struct OpeningRequest {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::string path;
    int amode = 0;
    MPI_Info info = MPI_INFO_NULL;
};

// Adds the hints of `info` to `settings`. Values that are not valid are ignored, as MPI demands;
// with setting `verbose` a line says so.
void read_hints(MPI_Info info, UserSettings& settings);

// Rank 0 decides and tells all ranks; collective over the communicator. The telling goes on while
// the MPI opens the file, which has the ranks wait for one another anyway: so it costs nothing.
class OpeningTalk {
public:
    // Both arguments must outlive the talk.
    OpeningTalk(const OpeningRequest& request, UserSettings& settings);
    OpeningTalk(const OpeningTalk&) = delete;
    OpeningTalk& operator=(const OpeningTalk&) = delete;
    ~OpeningTalk() = default;

    // Must be called, before the MPI creates a file and else after it has opened it; again, it says
    // the same. The settings are the effective ones from here on (on other ranks than 0 without
    // those that are texts).
    const OpeningDecision& end();

    // Warnings about the file for the user, on rank 0.
    [[nodiscard]] std::vector<std::string> take_warnings() noexcept { return std::move(warnings_); }

private:
    UserSettings& settings_;
    OpeningDecision opening_;
    std::vector<std::string> warnings_;
    bool ended_ = false;
    int rank_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace forebay::interposer
