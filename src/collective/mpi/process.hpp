// The only mutable state of a process: the MPI's functions, the open files and the cached
// communicators. Several threads may call the functions here.
#pragma once

#include "collective/mpi/open_file.hpp"

#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace forebay::interposer {

// To be called once, before anything else, by the core's entry point. `real`: the MPI's functions
// in the order of functions.toml, nullptr where the MPI has none. Returns, in the same order, the
// functions to which the program's calls are to be bound: Forebay's if `take_over`, the MPI's, or a
// fallback (narrow.hpp); nullptr: there is none.
[[nodiscard]] void* const* start_process(void* const* real, void* libmpi, bool take_over) noexcept;

[[nodiscard]] const LargeCountInquiry& large_count_inquiry() noexcept;

// The settings from defaults, settings file and environment; they are read once.
[[nodiscard]] Result<UserSettings> process_settings();

// True once: the caller then tells the user that hints for stripes have no effect here.
[[nodiscard]] bool first_without_stripes() noexcept;

// The open file of a handle. Null if Forebay does not know the handle, and within Forebay's own
// calls to the MPI, which may in turn call MPI_File_ functions.
[[nodiscard]] OpenFile* find_file(MPI_File handle) noexcept;
void keep_file(MPI_File handle, std::unique_ptr<OpenFile> file);
[[nodiscard]] std::unique_ptr<OpenFile> take_file(MPI_File handle) noexcept;

// On rank 0 only: chooses a cached communicator for `communicator`, reserves it, and puts its label
// into `opening`.
void choose_cached_communicator(MPI_Comm communicator, const CommunicatorNeeds& needs,
                                OpeningDecision& opening);
// On all ranks; collective if a new one has to be made. Null if `opening` names none.
[[nodiscard]] CachedCommunicator* join_cached_communicator(MPI_Comm communicator,
                                                           const OpeningDecision& opening,
                                                           const CommunicatorNeeds& needs);
// Collective if the file was the last one of a cached communicator that is not kept.
void leave_cached_communicator(CachedCommunicator* cached_communicator);

// How many aggregators a node like this one should have. The machine is inspected once.
[[nodiscard]] std::int32_t aggregators_per_node();

// Whether a buffer lies in GPU memory.
[[nodiscard]] bool is_gpu_memory(const void* address);

// True once: the caller then writes the job's line of the record.
[[nodiscard]] bool first_record() noexcept;

// MPI_Finalize will append a line on this process's end to `record`.
void report_end_at_finalize(std::string record);

// While an object of this class lives, its thread's calls of MPI_File_ functions go to the MPI
// directly.
class DirectMpiCalls {
public:
    DirectMpiCalls() noexcept;
    DirectMpiCalls(const DirectMpiCalls&) = delete;
    DirectMpiCalls& operator=(const DirectMpiCalls&) = delete;
    ~DirectMpiCalls();

    // Whether the calling thread has such an object.
    [[nodiscard]] static bool now() noexcept;
};

}  // namespace forebay::interposer
