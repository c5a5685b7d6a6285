// The ranks that open a file agree, before they do so, on how it is handled: rank 0 reads the
// settings, decides, and broadcasts its decisions once. So one rank reads the settings file instead
// of thousands, a mistake in it fails the open on all ranks, and no rank decides alone.
#pragma once

#include "settings/settings.hpp"

#include <array>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

namespace forebay::interposer {

// Whether Forebay handles a file's collective calls (`ours`); else why not. The same on all ranks
// of the file.
enum class Standing : std::uint32_t { ours, disabled, excluded, one_rank, sequential, no_group };

[[nodiscard]] const char* reason_of(Standing standing) noexcept;

// Rank 0's decisions, as they are broadcast.
struct OpeningDecision {
    std::int32_t failed = 0;  // 1: the settings are wrong, as rank 0 has said; the open must fail
    std::int32_t recording = 0;
    Standing standing = Standing::ours;
    std::int32_t make_cached_communicator = 0;
    std::uint64_t cached_communicator = 0;  // label of the one to use; 0: none
    std::int32_t made = 0;     // 1: rank 0 has created the file, with the layout that hints ask for
    std::int32_t targets = 0;  // of a file that hints gave a layout; 0: unknown
    std::int64_t stripe_bytes = 0;
    std::int32_t pooled = 0;  // 1: the pool of rank 0's node covers the file
    std::int32_t spare = 0;
    // Not 0: the file goes through the pools of several nodes, which know its ranks by this number
    // (pool/client/calls.hpp).
    std::uint64_t group = 0;
    UserSettings::Numbers settings{};
};

// The arguments of MPI_File_open, about which rank 0 decides. `path` is empty if the name is no
// plain path.
struct OpeningRequest {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::string path;
    int amode = 0;
    MPI_Info info = MPI_INFO_NULL;
};

// Adds the hints of `info` to `settings`. Invalid values are ignored, as MPI demands; with setting
// `verbose` a line says so.
void read_hints(MPI_Info info, UserSettings& settings);

// Rank 0 decides, and broadcasts its decisions (MPI_Ibcast); collective over the communicator. The
// broadcast runs while the MPI opens the file, where the ranks wait for one another anyway, so it
// costs nothing.
class OpeningTalk {
public:
    // Both arguments must outlive the object.
    OpeningTalk(const OpeningRequest& request, UserSettings& settings);
    OpeningTalk(const OpeningTalk&) = delete;
    OpeningTalk& operator=(const OpeningTalk&) = delete;
    ~OpeningTalk() = default;

    // Completes the broadcast, and returns the decisions. It must be called: before the MPI's open
    // if that creates the file, else after it. Further calls return the same. From then on
    // `settings` has the values in force (on ranks other than 0, without those that are texts).
    const OpeningDecision& end();

    // Warnings about the file for the user; only rank 0 has any.
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
