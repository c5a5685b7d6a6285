// The ranks that opened a file together, kept for the next file that the same ranks open: making a
// communicator and shared memory costs more than an open. All ranks keep the same ones, under the
// same label, because rank 0 names the cached communicator to use (opening.hpp).
#pragma once

#include "collective/mpi/communicator/communicator.hpp"
#include "foundation/ports/lending.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

namespace forebay::interposer {

struct CommunicatorNeeds {
    std::int32_t ranks_per_node = 0;
    std::int64_t staging_bytes_max = 0;
    bool operator==(const CommunicatorNeeds&) const noexcept = default;
};

[[nodiscard]] CommunicatorNeeds needs_of(const UserSettings& settings);

struct CachedCommunicator {
    std::uint64_t label = 0;
    CommunicatorNeeds needs;
    std::unique_ptr<adapters::MpiCommunicator> group;  // null: it could not be made, on all ranks
    std::unique_ptr<ports::MemoryBorrower> borrower;   // made by the first file that needs it
    std::int64_t files = 0;                            // open ones that use it
    std::uint32_t opened = 0;                          // files so far: the same on all ranks
    bool kept = false;                                 // when no file uses it any more
};

// Those of this process. Contract: calls are serialised by the caller, except where collective.
class CachedCommunicators {
public:
    static constexpr std::size_t kept_max = 8;

    // A cached communicator that fits the ranks of `communicator` and may be used now; null: none.
    // With `exclusive`, files of two threads must not meet in one cached communicator.
    [[nodiscard]] CachedCommunicator* find_free(MPI_Comm communicator,
                                                const CommunicatorNeeds& needs,
                                                bool exclusive) const;
    // The one that rank 0 named.
    [[nodiscard]] CachedCommunicator* find_label(MPI_Comm communicator, std::uint64_t label) const;
    [[nodiscard]] std::uint64_t next_label() noexcept { return ++last_label_; }
    [[nodiscard]] bool has_room() const noexcept;
    CachedCommunicator* adopt(std::unique_ptr<CachedCommunicator> cached_communicator);
    // Takes a cached communicator out that no file uses and that is not kept; null when it stays.
    // Staging of one that nobody uses is given back if there are others, so that what a node stages
    // does not grow with the communicators that a program once opened files on.
    [[nodiscard]] std::unique_ptr<CachedCommunicator> release(
        CachedCommunicator* cached_communicator);
    // When the program ends: takes those out that no file uses. The others go with their last file,
    // which may still be closed, and none is kept any more.
    [[nodiscard]] std::vector<std::unique_ptr<CachedCommunicator>> stop_keeping();

private:
    std::vector<std::unique_ptr<CachedCommunicator>> cached_communicators_;
    std::uint64_t last_label_ = 0;
    bool keeps_ = true;
};

// Collective over `communicator`. `room`: whether this rank can keep one more.
[[nodiscard]] std::unique_ptr<CachedCommunicator> make_cached_communicator(
    MPI_Comm communicator, std::uint64_t label, const CommunicatorNeeds& needs, bool room);

}  // namespace forebay::interposer
