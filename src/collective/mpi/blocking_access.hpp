// Blocking and split collective accesses to one open file: the engine carries them out if all ranks
// can take part, else they are passed on to the MPI. Also the accesses that are always left to the
// MPI.
#pragma once

#include "collective/mpi/access.hpp"
#include "collective/mpi/file_context.hpp"
#include "collective/mpi/file_engine.hpp"
#include "collective/mpi/node_pools.hpp"
#include "collective/mpi/program_view.hpp"
#include "collective/mpi/rank_request.hpp"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace forebay::interposer {

class BlockingAccess {
public:
    // All arguments outlive the object.
    BlockingAccess(FileContext& file, FileEngine& engine, ProgramView& view, NodePools& pools);
    BlockingAccess(const BlockingAccess&) = delete;
    BlockingAccess& operator=(const BlockingAccess&) = delete;
    ~BlockingAccess() = default;

    // Functions that return an int return an MPI error code. `pass`: the MPI's own function.
    int access(const AccessCall& access, IoDirection direction, PassOn pass);
    int begin(const AccessCall& access, IoDirection direction, PassOn pass);
    int end(const SplitEnd& split_end, PassOn pass);
    int leave(const PassedAccess& passed, PassOn pass);
    int set_atomicity(int flag);

    // Both are the same on all ranks: whether the file is in atomic mode, and whether the MPI may
    // still be moving bytes for all ranks (plan::SharedFacts).
    [[nodiscard]] bool atomic() const noexcept { return atomic_; }
    [[nodiscard]] bool mpi_under_way() const noexcept { return mpi_under_way_; }
    // To be called when the MPI gets a collective call of all ranks.
    void mpi_starts() noexcept { mpi_under_way_ = true; }

    // This rank's part of a collective access, which may be a refusal.
    [[nodiscard]] RankRequest request_of(const AccessCall& access, IoDirection direction) const;
    // Does what is left to do after the engine has carried out an access: reports an error, or
    // moves the file pointer.
    int complete(const AccessCall& access, const engine::CallOutcome& outcome);

private:
    [[nodiscard]] engine::Refusal refusal_of(const AccessCall& access,
                                             IoDirection direction) const noexcept;
    engine::CallOutcome transfer(const AccessCall& access, IoDirection direction);
    int pass(const AccessCall& access, engine::Refusal refusal, PassOn pass);
    template <class Tell>
    int take_over(const AccessCall& access, IoDirection direction, PassOn pass, Tell tell);
    Result<void> settle_before(const PassedAccess& passed);

    FileContext& file_;
    FileEngine& engine_;
    ProgramView& view_;
    NodePools& pools_;
    bool atomic_ = false;
    bool mpi_under_way_ = false;
    std::optional<std::int64_t> begun_;  // bytes that a split access has moved, until its end
};

}  // namespace forebay::interposer
