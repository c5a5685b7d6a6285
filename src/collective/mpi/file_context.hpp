// State that the parts of one open file share: which file it is, which ranks have it open, and how
// its errors reach the program.
#pragma once

#include "collective/mpi/cached_communicator.hpp"
#include "collective/mpi/counters.hpp"
#include "collective/mpi/datatype.hpp"
#include "collective/mpi/file_facts.hpp"
#include "collective/mpi/guard.hpp"
#include "foundation/base/result.hpp"
#include "storage/posix/clock.hpp"

#include <mpi.h>

namespace forebay::interposer {

struct FileContext {
    MPI_File handle;
    FileFacts facts;
    CachedCommunicator* cached_communicator;  // null: the file's ranks have none
    const LargeCountInquiry& inquiry;
    adapters::SteadyClock clock{};
    CallCounters counters{facts.recording};

    [[nodiscard]] bool ours() const noexcept { return facts.standing == Standing::ours; }
    // Whether other ranks wait for this rank in a collective call.
    [[nodiscard]] WaitingRanks waiting() const noexcept {
        return facts.ranks > 1 ? WaitingRanks::others : WaitingRanks::none;
    }
    // The communicator of the file's ranks. Contract: the file is ours.
    [[nodiscard]] adapters::MpiCommunicator& group() const;

    // Calls the error handler of the program's file; returns an MPI error code.
    [[nodiscard]] int raised(const Error& error) const noexcept;
    // The same for an error that is not in the record yet; it is added there.
    [[nodiscard]] int reported(const Error& error);
};

}  // namespace forebay::interposer
