// The view of one open file as the program sees it, with its individual file pointer. It is decoded
// for the engine; the MPI either has it, too, or is not told of it (held_view.hpp).
#pragma once

#include "collective/mpi/access.hpp"
#include "collective/mpi/file_context.hpp"
#include "collective/mpi/file_view.hpp"
#include "collective/mpi/held_view.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace forebay::interposer {

class ProgramView {
public:
    // `file` outlives the object.
    explicit ProgramView(const FileContext& file);
    ProgramView(const ProgramView&) = delete;
    ProgramView& operator=(const ProgramView&) = delete;
    ~ProgramView() = default;

    // Functions that return an int return an MPI error code.
    //
    // Collective: sets the view. It is held from the MPI if, flattened, it would have more than
    // `pieces_max` pieces.
    int set(const ViewArguments& arguments, std::int64_t pieces_max);
    int get(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
            char* datarep) const;
    int seek(MPI_Offset offset, int whence);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement);
    // Moves the individual file pointer forward, past an access to `bytes` bytes. Contract: they
    // are whole etypes.
    int move_pointer(std::int64_t bytes);
    // Collective; to be called before a collective call of the MPI. Afterwards the MPI has the
    // view.
    int pass_held_view_to_mpi();
    // Makes an independent access by the MPI's own function, on a handle that has the view.
    int access_alone(AccessStart start, PassOn pass);
    int sync() noexcept { return held_.sync(); }
    int close() noexcept { return held_.close(); }

    // Whether this rank holds its view; whether any rank does, which is the same on all ranks.
    [[nodiscard]] bool held_here() const noexcept { return held_.here(); }
    [[nodiscard]] bool held_anywhere() const noexcept { return held_.anywhere(); }
    // Says which file it is. To be called before a held view is used.
    void know(const ports::FileIdentity& identity) { held_.know(identity); }

    [[nodiscard]] const FileView& decoded() const noexcept { return view_; }
    // Where an access starts, in etypes of the view. Contract: it does not use the shared file
    // pointer.
    [[nodiscard]] MPI_Offset first_etype(AccessStart start, MPI_Offset offset) const;
    // An extent that contains all bytes that the access touches; nullopt: it cannot be told.
    [[nodiscard]] std::optional<Extent> extent_of(const PassedAccess& passed) const;

private:
    const FileContext& file_;
    FileView view_;
    HeldView held_;
};

}  // namespace forebay::interposer
