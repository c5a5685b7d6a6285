// What the parts of one open file share: which file it is, who has it open, and how its errors get
// to the program.
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
    // Contract: the file is ours, so that its ranks can reach each other.
    [[nodiscard]] adapters::MpiCommunicator& group() const;

    // Calls the program's handler; an MPI error code.
    [[nodiscard]] int raised(const Error& error) const noexcept;
    // The same for an error that the record does not have yet.
    [[nodiscard]] int reported(const Error& error);
};

}  // namespace forebay::interposer
