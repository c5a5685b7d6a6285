// A view that the MPI is not told: it would make a list of its pieces, 16 bytes each, where the
// loop nest takes a few bytes in all (decision 0007).
//
// Every rank decides for itself. One that *holds* its view tells the MPI the displacement and the
// etype only, so that all file pointers count as the program expects; and all ranks learn, by one
// reduction that runs while the MPI sets the view, whether *anyone* holds. Then
//   - what Forebay takes over needs the MPI's view not at all,
//   - a blocking collective call that is left to the MPI tells it first, on all ranks
//   (`pass_to_mpi`),
//   - any other call that is left goes through a *stand-in*: a second handle on the file, open on
//     this rank alone, which has the view.
#pragma once

#include "collective/mpi/access.hpp"
#include "collective/mpi/file_view.hpp"
#include "collective/mpi/own_type.hpp"

#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>

namespace forebay::interposer {

// Whether it pays to hold `view`, which was made of `arguments`: its nest is small, but a list of
// its pieces would have more than `pieces_max` entries.
[[nodiscard]] bool is_dear(const FileView& view, const ViewArguments& arguments,
                           std::int64_t pieces_max, const LargeCountInquiry& inquiry);

class HeldView {
public:
    // `file`: the real handle, which must stay open.
    HeldView(MPI_File file, std::string name, int amode, const LargeCountInquiry& inquiry);
    HeldView(const HeldView&) = delete;
    HeldView& operator=(const HeldView&) = delete;
    // Contract: closed.
    ~HeldView() = default;

    // Whether this rank holds its view; whether any rank does (all ranks know).
    [[nodiscard]] bool here() const noexcept { return here_; }
    [[nodiscard]] bool anywhere() const noexcept { return anywhere_; }

    // All of these return MPI error codes; those of the stand-in also call the file's handler.
    // Collective: sets the view, and holds it on this rank where `hold`.
    int set(const ViewArguments& arguments, bool hold, MPI_Comm communicator);
    // Collective, where anywhere(): the MPI knows the view afterwards, or all ranks get an error
    // and hold on.
    int pass_to_mpi(MPI_Comm communicator);
    // Which file the program opened; the stand-in must be of that one.
    void know(const ports::FileIdentity& identity) { identity_ = identity; }
    // Contract of the following: here().
    int get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                 char* datarep) const;
    int seek_from_end(MPI_Offset offset);
    int get_byte_offset(MPI_Offset offset, MPI_Offset* displacement);
    // An independent access; not by the shared pointer.
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
    std::mutex pointer_;     // of threads that access the file independently
};

}  // namespace forebay::interposer
