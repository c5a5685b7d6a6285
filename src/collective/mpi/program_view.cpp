// Calls go to the program's handle at the MPI or, if this rank holds its view, to HeldView.
#include "collective/mpi/program_view.hpp"

#include "collective/plan/summary.hpp"
#include "entry/functions.hpp"
#include "foundation/base/contracts.hpp"

#include <utility>

namespace forebay::interposer {

ProgramView::ProgramView(const FileContext& file)
    : file_{file}, held_{file.handle, file.facts.name, file.facts.amode, file.inquiry} {}

// Invalid arguments reach the MPI as they are, so that the error is the MPI's own.
int ProgramView::set(const ViewArguments& arguments, std::int64_t pieces_max) {
    FileView view = FileView::make(arguments, file_.inquiry);
    const bool dear = is_dear(view, arguments, pieces_max, file_.inquiry);
    const int code = held_.set(arguments, dear, file_.group().own());
    if (code == MPI_SUCCESS) {
        view_ = std::move(view);
    }
    return code;
}

int ProgramView::get(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                     char* datarep) const {
    return held_.here() ? held_.get_view(displacement, etype, filetype, datarep)
                        : real::get_view(file_.handle, displacement, etype, filetype, datarep);
}

// The MPI can move the file pointer of a held view, because it knows the etypes. Only a seek from
// the end of the file depends on the filetype.
int ProgramView::seek(MPI_Offset offset, int whence) {
    return held_.here() && whence == MPI_SEEK_END ? held_.seek_from_end(offset)
                                                  : real::seek(file_.handle, offset, whence);
}

int ProgramView::get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
    return held_.here() ? held_.get_byte_offset(offset, displacement)
                        : real::get_byte_offset(file_.handle, offset, displacement);
}

int ProgramView::move_pointer(std::int64_t bytes) {
    expects(view_.etype_bytes > 0 && bytes % view_.etype_bytes == 0,
            "the file pointer moves by whole etypes");
    return real::seek(file_.handle, bytes / view_.etype_bytes, MPI_SEEK_CUR);
}

int ProgramView::pass_held_view_to_mpi() {
    return held_.anywhere() ? held_.pass_to_mpi(file_.group().own()) : MPI_SUCCESS;
}

int ProgramView::access_alone(AccessStart start, PassOn pass) {
    return held_.here() ? held_.access(start, pass) : pass(file_.handle);
}

MPI_Offset ProgramView::first_etype(AccessStart start, MPI_Offset offset) const {
    if (start == AccessStart::pointer) {
        real::get_position(file_.handle, &offset);
    }
    return offset;
}

std::optional<Extent> ProgramView::extent_of(const PassedAccess& passed) const {
    pattern::ViewRange range;
    range.length = bytes_of(passed.count, passed.datatype);
    if (passed.start == AccessStart::shared_pointer || range.length < 0 ||
        view_.refusal != engine::Refusal::none) {
        return std::nullopt;
    }
    const MPI_Offset first = first_etype(passed.start, passed.offset);
    const bool fits = first >= 0 &&
                      !__builtin_mul_overflow(first, view_.etype_bytes, &range.position) &&
                      view_.reaches(range.position, range.length);
    if (!fits) {
        return std::nullopt;
    }
    return plan::summarise(view_.bytes, range, range.length).span();
}

}  // namespace forebay::interposer
