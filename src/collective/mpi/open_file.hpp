// One file that the program has open: what Forebay knows of it beside the MPI's own handle. It is
// made of parts, each with a state of its own:
//
//   FileContext          which file it is, which ranks have it open
//   FileEngine           settings, layout and the engine
//   ProgramView          view and file pointer
//   NodePools            bytes that the pools of several nodes have
//   BlockingAccess       blocking and split collective accesses, and those left to the MPI
//   NonBlockingAccess    non-blocking collective accesses
#pragma once

#include "collective/mpi/access.hpp"
#include "collective/mpi/blocking_access.hpp"
#include "collective/mpi/file_context.hpp"
#include "collective/mpi/file_engine.hpp"
#include "collective/mpi/node_pools.hpp"
#include "collective/mpi/nonblocking_access.hpp"
#include "collective/mpi/program_view.hpp"
#include "settings/settings.hpp"

#include <mpi.h>
#include <string>

namespace forebay::interposer {

class OpenFile {
public:
    OpenFile(MPI_File handle, FileFacts facts, UserSettings settings,
             CachedCommunicator* cached_communicator, const LargeCountInquiry& inquiry);
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() = default;

    // Data accesses. `pass`: the MPI's own function. Functions that return an int, here and below,
    // return an MPI error code.
    int access(const AccessCall& access, IoDirection direction, PassOn pass) {
        return blocking_.access(access, direction, pass);
    }
    int begin(const AccessCall& access, IoDirection direction, PassOn pass) {
        return blocking_.begin(access, direction, pass);
    }
    int end(const SplitEnd& split_end, PassOn pass) { return blocking_.end(split_end, pass); }
    int start(const AccessCall& access, IoDirection direction, const StartArguments& arguments) {
        return nonblocking_.start(access, direction, arguments);
    }
    int leave(const PassedAccess& passed, PassOn pass) { return blocking_.leave(passed, pass); }

    int set_view(const ViewArguments& arguments);
    int get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                 char* datarep) const {
        return view_.get(displacement, etype, filetype, datarep);
    }
    int seek(MPI_Offset offset, int whence);
    int seek_shared(MPI_Offset offset, int whence);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
        return view_.get_byte_offset(offset, displacement);
    }
    int set_info(MPI_Info info);
    int get_info(MPI_Info* info) const;
    int get_amode(int* amode) const;
    int set_atomicity(int flag) { return blocking_.set_atomicity(flag); }
    int sync();
    int get_size(MPI_Offset* size);
    int set_size(MPI_Offset size);
    int preallocate(MPI_Offset size);
    // Does all that closing the file needs, except the MPI's own close. Collective.
    int finish();

    [[nodiscard]] bool ours() const noexcept { return file_.ours(); }
    [[nodiscard]] WaitingRanks waiting() const noexcept { return file_.waiting(); }
    [[nodiscard]] const FileFacts& facts() const noexcept { return file_.facts; }
    [[nodiscard]] const UserSettings& settings() const noexcept { return engine_.settings(); }
    [[nodiscard]] CachedCommunicator* cached_communicator() const noexcept {
        return file_.cached_communicator;
    }
    [[nodiscard]] std::string aggregators() const { return engine_.aggregators(); }
    [[nodiscard]] FileStripes layout() const noexcept { return engine_.layout(); }
    [[nodiscard]] const CallCounters& counters() const noexcept { return file_.counters; }

private:
    int settle(const Result<void>& done, int code);

    FileContext file_;
    FileEngine engine_;
    ProgramView view_;
    NodePools pools_;
    BlockingAccess blocking_;
    NonBlockingAccess nonblocking_;
};

}  // namespace forebay::interposer
