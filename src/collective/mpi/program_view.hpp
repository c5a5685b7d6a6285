// The view of one open file as the program sees it, with its individual file pointer: decoded for
// the engine, and known to the MPI or held from it (held_view.hpp).
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
    // `file` outlives it.
    explicit ProgramView(const FileContext& file);
    ProgramView(const ProgramView&) = delete;
    ProgramView& operator=(const ProgramView&) = delete;
    ~ProgramView() = default;

    // Functions that return an int return an MPI error code.
    //
    // Collective: sets the view. It is held from the MPI where a list of its pieces would have more
    // than `pieces_max` entries.
    int set(const ViewArguments& arguments, std::int64_t pieces_max);
    int get(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
            char* datarep) const;
    int seek(MPI_Offset offset, int whence);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement);
    // Moves the pointer behind an access to so many bytes. Contract: they are whole etypes.
    int move_pointer(std::int64_t bytes);
    // Collective, before a collective call of the MPI, which knows the view afterwards.
    int pass_held_view_to_mpi();
    // One rank's access by the MPI's own function, on a handle that has the view.
    int access_alone(AccessStart start, PassOn pass);
    int sync() noexcept { return held_.sync(); }
    int close() noexcept { return held_.close(); }

    // Whether this rank holds its view; whether any rank does, which all of them know.
    [[nodiscard]] bool held_here() const noexcept { return held_.here(); }
    [[nodiscard]] bool held_anywhere() const noexcept { return held_.anywhere(); }
    // Which file it is; before a view that is held is used.
    void know(const ports::FileIdentity& identity) { held_.know(identity); }

    [[nodiscard]] const FileView& decoded() const noexcept { return view_; }
    // Where an access starts, in etypes of the view; not one by the shared pointer.
    [[nodiscard]] MPI_Offset first_etype(AccessStart start, MPI_Offset offset) const;
    // All that the access touches lies in it; nullopt: it cannot be told.
    [[nodiscard]] std::optional<Extent> extent_of(const PassedAccess& passed) const;

private:
    const FileContext& file_;
    FileView view_;
    HeldView held_;
};

}  // namespace forebay::interposer
