// One file that the program has open: what Forebay knows of it beside the MPI's own handle.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/engine/rendezvous.hpp"
#include "collective/mpi/access.hpp"
#include "collective/mpi/file_context.hpp"
#include "collective/mpi/node_pools.hpp"
#include "collective/mpi/own_part.hpp"
#include "collective/mpi/program_view.hpp"
#include "collective/plan/nonblocking.hpp"
#include "settings/settings.hpp"

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

namespace forebay::interposer {

class OpenFile {
public:
    OpenFile(MPI_File handle, FileFacts facts, Settings settings,
             CachedCommunicator* cached_communicator, const LargeCountInquiry& inquiry);
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() = default;

    // Data access; `pass` is the MPI's own function.
    int access(const Access& access, Direction direction, PassOn pass);
    int begin(const Access& access, Direction direction, PassOn pass);
    int end(const SplitEnd& split_end, PassOn pass);
    // Non-blocking, by all ranks; waits for the others for 2 ms at most.
    int start(const Access& access, Direction direction, const StartArguments& arguments);
    int leave(const PassedAccess& passed, PassOn pass);

    int set_view(const ViewArguments& arguments);
    int get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                 char* datarep) const;
    int seek(MPI_Offset offset, int whence);
    int seek_shared(MPI_Offset offset, int whence);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement);
    int set_info(MPI_Info info);
    int get_info(MPI_Info* info) const;
    int get_amode(int* amode) const;
    int set_atomicity(int flag);
    int sync();
    int get_size(MPI_Offset* size);
    int set_size(MPI_Offset size);
    int preallocate(MPI_Offset size);
    // Everything but the MPI's own close; an MPI error code. Collective.
    int finish();

    [[nodiscard]] bool ours() const noexcept { return file_.ours(); }
    [[nodiscard]] WaitingRanks waiting() const noexcept { return file_.waiting(); }
    [[nodiscard]] const FileFacts& facts() const noexcept { return file_.facts; }
    [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
    [[nodiscard]] CachedCommunicator* cached_communicator() const noexcept {
        return file_.cached_communicator;
    }
    [[nodiscard]] std::string aggregators() const;
    [[nodiscard]] Stripes layout() const noexcept { return layout_; }
    [[nodiscard]] const Counters& counters() const noexcept { return file_.counters; }

private:
    struct Asked {  // what one rank asks the engine for, with what the call refers to
        engine::Call call;
        DecodedType memory;
    };
    struct PerDirection {
        bool write = false;
        bool read = false;
    };

    engine::Outcome transfer(const Access& access, Direction direction);
    Asked asked(const Access& access, Direction direction) const;
    Asked asked_if_possible(const Access& access, Direction direction) const;
    [[nodiscard]] plan::SharedFacts shared_facts(Direction direction) const noexcept;
    int start_by_mpi(const Access& access, const plan::Choice& choice,
                     const StartArguments& arguments);
    int move_own_part(const Access& access, Direction direction, const Asked& ask,
                      MPI_Request& request);
    [[nodiscard]] static pattern::Memory memory_of(const Asked& ask) noexcept;
    [[nodiscard]] bool all_come(const Asked& ask, engine::Refusal own);
    int move_together(const Access& access, Direction direction, const Asked& ask,
                      MPI_Request& request);
    Result<void> close_own_part();
    [[nodiscard]] engine::Refusal refusal_of(const Access& access,
                                             Direction direction) const noexcept;
    engine::File& engine();
    void borrow(engine::FileOptions& options);
    int pass(const Access& access, engine::Refusal refusal, PassOn pass);
    template <class Tell>
    int take_over(const Access& access, Direction direction, PassOn pass, Tell tell);
    int complete(const Access& access, const engine::Outcome& outcome);
    int settle(const Result<void>& done, int code);
    Result<void> settle_before(const PassedAccess& passed);
    void forget() noexcept;
    void take_hints(MPI_Info info);

    FileContext file_;
    Settings settings_;
    std::unique_ptr<engine::File> engine_;  // made by the first collective access
    Stripes layout_;
    ProgramView view_;
    NodePools pools_;
    bool atomic_ = false;
    PerDirection disabled_at_open_;
    bool mpi_under_way_ = false;  // see plan::SharedFacts; the same on all ranks
    bool by_itself_ = false;      // some call was done by each rank itself; the same on all ranks
    OwnPart own_part_;
    std::uint32_t number_;                          // among the cached communicator's files
    std::optional<engine::Rendezvous> rendezvous_;  // made by the first non-blocking call
    std::optional<std::int64_t> begun_;             // bytes of a split access that was taken over
};

}  // namespace forebay::interposer
