// Cached communicators: Forebay's communicator and shared memory for ranks that opened a file
// together, kept for the next file that the same ranks open, because making them costs more than an
// open. All ranks keep the same ones under the same label, since rank 0 names the one to use
// (opening.hpp).
#pragma once

#include "collective/mpi/communicator/communicator.hpp"
#include "foundation/ports/lending.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

namespace forebay::interposer {

// The settings that a cached communicator is made with.
struct CommunicatorNeeds {
    std::int32_t ranks_per_node = 0;
    std::int64_t staging_bytes_max = 0;
    bool operator==(const CommunicatorNeeds&) const noexcept = default;
};

[[nodiscard]] CommunicatorNeeds needs_of(const UserSettings& settings);

struct CachedCommunicator {
    std::uint64_t label = 0;
    CommunicatorNeeds needs;
    std::unique_ptr<adapters::MpiCommunicator> group;  // null on all ranks: it could not be made
    std::unique_ptr<ports::MemoryBorrower> borrower;   // made by the first file that needs it
    std::int64_t files = 0;                            // open files that use it
    std::uint32_t opened = 0;  // files that have used it so far: the same on all ranks
    bool kept = false;         // it stays when no file uses it any more
};

// The cached communicators of this process. Contract: the caller serialises all calls.
class CachedCommunicators {
public:
    static constexpr std::size_t kept_max = 8;

    // A cached communicator that fits the ranks of `communicator` and may be used now; null: there
    // is none. `exclusive`: only one that no file uses, since files of two threads must not share
    // one.
    [[nodiscard]] CachedCommunicator* find_free(MPI_Comm communicator,
                                                const CommunicatorNeeds& needs,
                                                bool exclusive) const;
    // The cached communicator that rank 0 named by `label`; null: there is none.
    [[nodiscard]] CachedCommunicator* find_label(MPI_Comm communicator, std::uint64_t label) const;
    [[nodiscard]] std::uint64_t next_label() noexcept { return ++last_label_; }
    // Whether one more can be kept.
    [[nodiscard]] bool has_room() const noexcept;
    CachedCommunicator* adopt(std::unique_ptr<CachedCommunicator> cached_communicator);
    // Ends its use by one file. Returns the cached communicator if no file uses it and it is not
    // kept; destroying it is collective. Else it stays, and the result is null. If it stays unused
    // and there are others, its staging memory goes back to the system, so that a node's memory
    // does not grow with the number of communicators on which a program has opened files.
    [[nodiscard]] std::unique_ptr<CachedCommunicator> release(
        CachedCommunicator* cached_communicator);
    // To be called when the program ends: takes out those that no file uses, and stops keeping any.
    // The others go with their last file, which may still be closed.
    [[nodiscard]] std::vector<std::unique_ptr<CachedCommunicator>> stop_keeping();

private:
    std::vector<std::unique_ptr<CachedCommunicator>> cached_communicators_;
    std::uint64_t last_label_ = 0;
    bool keeps_ = true;
};

// Collective over `communicator`. `room`: whether this rank can keep one more; it is kept if all
// ranks can.
[[nodiscard]] std::unique_ptr<CachedCommunicator> make_cached_communicator(
    MPI_Comm communicator, std::uint64_t label, const CommunicatorNeeds& needs, bool room);

}  // namespace forebay::interposer
