// The only mutable state of a process: the MPI's functions, the open files, the
// cached communicators. Everything here may be called from several threads.
#pragma once

#include "collective/mpi/open_file.hpp"

#include <memory>
#include <mpi.h>
#include <vector>

namespace forebay::interposer {

// Once, before anything else. `real`: the MPI's functions, nullptr where it has none. Returns the
// functions that the program's calls are to be bound to, or nullptr for the MPI's own.
[[nodiscard]] void* const* start_process(void* const* real, void* libmpi, bool take_over) noexcept;

[[nodiscard]] const LargeCountInquiry& large_count_inquiry() noexcept;

// Defaults, settings file and environment, read once.
[[nodiscard]] Result<UserSettings> process_settings();

// Whether nobody has been told yet that hints for stripes do nothing here.
[[nodiscard]] bool first_without_stripes() noexcept;

// The open file behind a handle; null for one that Forebay does not know, and within Forebay's own
// calls to the MPI, which may come back to us.
[[nodiscard]] OpenFile* find_file(MPI_File handle) noexcept;
void keep_file(MPI_File handle, std::unique_ptr<OpenFile> file);
[[nodiscard]] std::unique_ptr<OpenFile> take_file(MPI_File handle) noexcept;

// On rank 0: names a cached communicator for `communicator` in `opening`, and reserves it.
void choose_cached_communicator(MPI_Comm communicator, const CommunicatorNeeds& needs,
                                OpeningDecision& opening);
// On all ranks, collective if one is to be made. Null when `opening` names none.
[[nodiscard]] CachedCommunicator* join_cached_communicator(MPI_Comm communicator,
                                                           const OpeningDecision& opening,
                                                           const CommunicatorNeeds& needs);
// Collective when it was the last file of a cached communicator that is not kept.
void leave_cached_communicator(CachedCommunicator* cached_communicator);

// How many aggregators a node like this one should have; the machine is inspected once.
[[nodiscard]] std::int32_t aggregators_per_node();

// Whether a buffer lies in GPU memory.
[[nodiscard]] bool is_gpu_memory(const void* address);

// True once: for the caller who is to write the job's line.
[[nodiscard]] bool first_record() noexcept;

// While one lives, the thread's calls to MPI_File_ functions go to the MPI directly.
class DirectMpiCalls {
public:
    DirectMpiCalls() noexcept;
    DirectMpiCalls(const DirectMpiCalls&) = delete;
    DirectMpiCalls& operator=(const DirectMpiCalls&) = delete;
    ~DirectMpiCalls();

    [[nodiscard]] static bool now() noexcept;
};

}  // namespace forebay::interposer
