// A *held* view, of which the MPI is not told: the MPI would flatten its filetype into a list of
// pieces, 16 bytes each, where the loop nest takes a few bytes in all (decision 0007).
//
// Each rank decides for itself. A rank that holds its view sets only the displacement and the etype
// at the MPI, so that all file pointers count as the program expects. All ranks learn whether *any*
// rank holds its view, by one all-reduce that runs while the MPI sets the view. From then on:
// - An access that Forebay takes over does not need the MPI's view.
// - Before a blocking collective call that is left to the MPI, all ranks set their views there
// (`pass_to_mpi`).
// - Any other call that is left to the MPI goes through a *stand-in*: a second handle on the file,
// open on this rank alone, which has the view.
#pragma once

#include "collective/mpi/access.hpp"
#include "collective/mpi/file_view.hpp"
#include "collective/mpi/own_type.hpp"

#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>

namespace forebay::interposer {

// Whether it pays to hold `view`, which was made from `arguments`: its nest is small, but flattened
// it would have more than `pieces_max` pieces.
[[nodiscard]] bool is_dear(const FileView& view, const ViewArguments& arguments,
                           std::int64_t pieces_max, const LargeCountInquiry& inquiry);

class HeldView {
public:
    // `file`: the program's handle at the MPI, which must stay open.
    HeldView(MPI_File file, std::string name, int amode, const LargeCountInquiry& inquiry);
    HeldView(const HeldView&) = delete;
    HeldView& operator=(const HeldView&) = delete;
    // Contract: close() was called.
    ~HeldView() = default;

    // Whether this rank holds its view; whether any rank does, which is the same on all ranks.
    [[nodiscard]] bool here() const noexcept { return here_; }
    [[nodiscard]] bool anywhere() const noexcept { return anywhere_; }

    // Functions that return an int return an MPI error code. For an error of the stand-in they also
    // call the error handler of the program's file.
    //
    // Collective: sets the view, and holds it on this rank if `hold`.
    int set(const ViewArguments& arguments, bool hold, MPI_Comm communicator);
    // Collective. Contract: anywhere(). Afterwards the MPI has the view on all ranks; or all ranks
    // get an error and hold the views that they held.
    int pass_to_mpi(MPI_Comm communicator);
    // `identity`: the file that the program opened. The stand-in must be on the same one.
    void know(const ports::FileIdentity& identity) { identity_ = identity; }
    // Contract of the following: here().
    int get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                 char* datarep) const;
    int seek_from_end(MPI_Offset offset);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement);
    // Makes an independent access by the MPI's own function, on the stand-in. One by the shared
    // file pointer gets an error.
    int access(AccessStart start, PassOn pass);

    int sync() noexcept;
    int close() noexcept;

private:
    int view_of_mpi(MPI_Offset& displacement, OwnType& etype, OwnType& filetype) const;
    [[nodiscard]] bool stands_for_the_file() const;
    int prepare();
    int from_pointer(PassOn pass);
    int raised(int code) const;

    MPI_File file_;
    std::string name_;
    int amode_;
    const LargeCountInquiry* inquiry_;
    bool here_ = false;
    bool anywhere_ = false;
    std::optional<ports::FileIdentity> identity_;
    MPI_Offset displacement_ = 0;
    OwnType etype_;
    OwnType filetype_;
    MPI_File stand_in_ = MPI_FILE_NULL;
    bool prepared_ = false;  // the stand-in has the view
    std::mutex pointer_;     // for threads that access the file independently
};

}  // namespace forebay::interposer
