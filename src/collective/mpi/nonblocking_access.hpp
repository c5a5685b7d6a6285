// Non-blocking collective accesses to one open file. Each rank does its part by itself, within the
// call, if that needs no other rank; else the MPI gets the call (decision 0021).
#pragma once

#include "collective/engine/rendezvous.hpp"
#include "collective/mpi/access.hpp"
#include "collective/mpi/blocking_access.hpp"
#include "collective/mpi/file_context.hpp"
#include "collective/mpi/file_engine.hpp"
#include "collective/mpi/node_pools.hpp"
#include "collective/mpi/own_part.hpp"
#include "collective/mpi/program_view.hpp"
#include "collective/mpi/rank_request.hpp"
#include "collective/plan/nonblocking.hpp"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace forebay::interposer {

class NonBlockingAccess {
public:
    // All arguments outlive the object. Only the settings of the open count, which are the same on
    // all ranks.
    NonBlockingAccess(FileContext& file, FileEngine& engine, ProgramView& view, NodePools& pools,
                      BlockingAccess& blocking);
    NonBlockingAccess(const NonBlockingAccess&) = delete;
    NonBlockingAccess& operator=(const NonBlockingAccess&) = delete;
    ~NonBlockingAccess() = default;

    // Returns an MPI error code. Waits for the other ranks for 2 ms at most.
    int start(const AccessCall& access, IoDirection direction, const StartArguments& arguments);
    // Closes this rank's own part, and returns errors of its writes that show only now. To be
    // called on all ranks before the file is closed.
    Result<void> close();

private:
    struct PerDirection {
        bool write = false;
        bool read = false;
    };

    [[nodiscard]] plan::SharedFacts shared_facts(IoDirection direction) const noexcept;
    [[nodiscard]] bool all_come(const RankRequest& request, engine::Refusal own);
    int start_by_mpi(const AccessCall& access, const plan::CourseChoice& choice,
                     const StartArguments& arguments);
    int move_together(const AccessCall& access, IoDirection direction, const RankRequest& request,
                      MPI_Request& made);
    int move_own_part(const AccessCall& access, IoDirection direction, const RankRequest& request,
                      MPI_Request& made);

    FileContext& file_;
    FileEngine& engine_;
    ProgramView& view_;
    NodePools& pools_;
    BlockingAccess& blocking_;
    PerDirection disabled_at_open_;
    bool by_itself_ = false;  // each rank did some call itself; the same on all ranks
    OwnPart own_part_;
    std::uint32_t number_;  // of the file among those of the communicator
    std::optional<engine::RankRendezvous> rendezvous_;  // made by the first call that needs it
};

}  // namespace forebay::interposer
