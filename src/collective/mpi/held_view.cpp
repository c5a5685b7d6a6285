// Calls of MPI_File_ functions on the program's handle, and on the stand-in for a held view.
#include "collective/mpi/held_view.hpp"

#include "collective/mpi/communicator/failure.hpp"
#include "collective/mpi/status.hpp"
#include "entry/functions.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/kernel/calls.hpp"
#include "settings/path.hpp"

#include <array>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace forebay::interposer {

namespace {

constexpr std::size_t small_nest_bytes = 65536;

}  // namespace

// At the MPI the etype takes the place of the filetype, so it must be a valid filetype: bytes
// without gaps.
bool is_dear(const FileView& view, const ViewArguments& arguments, std::int64_t pieces_max,
             const LargeCountInquiry& inquiry) {
    if (view.refusal != engine::Refusal::none || view.without_data || view.bytes.contiguous()) {
        return false;
    }
    const pattern::Nest& nest = view.bytes.filetype();
    const std::int64_t pieces = nest.loops()[static_cast<std::size_t>(nest.root())].pieces;
    if (pieces <= pieces_max || nest.footprint() > small_nest_bytes) {
        return false;
    }
    const auto etype = decode(arguments.etype, inquiry);
    return etype && etype->nest.contiguous() && etype->nest.low() == 0 &&
           etype->extent == etype->size;
}

HeldView::HeldView(MPI_File file, std::string name, int amode, const LargeCountInquiry& inquiry)
    : file_(file), name_(std::move(name)), amode_(amode), inquiry_(&inquiry) {}

// A rank whose set_view fails keeps the view that it had. So a view that it held before counts in
// the all-reduce, too.
int HeldView::set(const ViewArguments& arguments, bool hold, MPI_Comm communicator) {
    const int mine = hold || here_ ? 1 : 0;
    int anyone = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    constexpr auto doing = "learn which ranks hold their views";
    adapters::abort_if_failed(
        PMPI_Iallreduce(&mine, &anyone, 1, MPI_INT, MPI_MAX, communicator, &request), communicator,
        doing);
    const int code = real::set_view(file_, arguments.displacement, arguments.etype,
                                    hold ? arguments.etype : arguments.filetype, arguments.datarep,
                                    arguments.info);
    adapters::abort_if_failed(PMPI_Wait(&request, MPI_STATUS_IGNORE), communicator, doing);
    anywhere_ = anyone != 0;
    if (code != MPI_SUCCESS) {
        return code;
    }
    here_ = hold;
    prepared_ = false;
    displacement_ = arguments.displacement;
    etype_ = hold ? OwnType::keep(arguments.etype, *inquiry_) : OwnType();
    filetype_ = hold ? OwnType::keep(arguments.filetype, *inquiry_) : OwnType();
    return code;
}

// Gets the view that the MPI has on this rank.
int HeldView::view_of_mpi(MPI_Offset& displacement, OwnType& etype, OwnType& filetype) const {
    std::array<char, MPI_MAX_DATAREP_STRING + 1> datarep{};
    MPI_Datatype units = MPI_BYTE;
    MPI_Datatype pieces = MPI_BYTE;
    const int code = real::get_view(file_, &displacement, &units, &pieces, datarep.data());
    if (code == MPI_SUCCESS) {
        etype = OwnType::take(units, *inquiry_);
        filetype = OwnType::take(pieces, *inquiry_);
    }
    return code;
}

// A rank that holds no view sets the MPI's view once more, because MPI_File_set_view is collective.
// If it fails on one rank, all ranks keep what they hold, and none goes on to the call that
// follows. The shared file pointer is at 0, as it was: no call that moves it is made while a view
// is held.
int HeldView::pass_to_mpi(MPI_Comm communicator) {
    MPI_Offset position = 0;
    MPI_Offset displacement = displacement_;
    OwnType etype;
    OwnType filetype;
    real::get_position(file_, &position);
    const int found = here_ ? MPI_SUCCESS : view_of_mpi(displacement, etype, filetype);
    const int told = real::set_view(file_, displacement, (here_ ? etype_ : etype).get(),
                                    (here_ ? filetype_ : filetype).get(), "native", MPI_INFO_NULL);
    const int moved = real::seek(file_, position, MPI_SEEK_SET);
    const int mine = found != MPI_SUCCESS ? found : told != MPI_SUCCESS ? told : moved;
    const int failed = mine == MPI_SUCCESS ? 0 : 1;
    int anyone = failed;
    adapters::abort_if_failed(PMPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, communicator),
                              communicator, "learn whether all ranks have set their views");
    if (anyone != 0) {
        return mine != MPI_SUCCESS ? mine : raise(file_, MPI_ERR_OTHER);
    }
    here_ = false;
    anywhere_ = false;
    etype_ = OwnType();
    filetype_ = OwnType();
    return MPI_SUCCESS;
}

int HeldView::get_view(MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) const {
    expects(here_, "this rank holds its view");
    *displacement = displacement_;
    *etype = etype_.copy();
    *filetype = filetype_.copy();
    std::strcpy(datarep, "native");  // NOLINT(clang-analyzer-security.insecureAPI.strcpy): MPI's
    return MPI_SUCCESS;
}

// Whether the file is still the one that the program opened. Only inode numbers are compared,
// because device numbers of network file systems differ between nodes.
bool HeldView::stands_for_the_file() const {
    struct stat facts{};
    const std::string path = plain_path(name_).value_or(name_);
    return identity_ && kernel::stat(path.c_str(), &facts) == 0 && facts.st_ino == identity_->inode;
}

// Opens the stand-in and sets its view, as far as that is still to be done. The stand-in has the
// program's hints. Its access mode leaves out flags such as MPI_MODE_DELETE_ON_CLOSE: they are the
// business of the program's handle.
int HeldView::prepare() {
    if (stand_in_ == MPI_FILE_NULL) {
        constexpr int kept = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
        MPI_Info hints = MPI_INFO_NULL;
        real::get_info(file_, &hints);
        const int code = real::open(MPI_COMM_SELF, name_.c_str(), amode_ & kept, hints, &stand_in_);
        if (hints != MPI_INFO_NULL) {
            PMPI_Info_free(&hints);
        }
        if (code != MPI_SUCCESS) {
            stand_in_ = MPI_FILE_NULL;
            return code;
        }
        real::set_errhandler(stand_in_, MPI_ERRORS_RETURN);
        if (!stands_for_the_file()) {
            real::close(&stand_in_);
            say("cannot access " + name_ +
                " independently (another file has taken its place, or "
                "it is gone). Leave the file where it is while it is open.");
            return MPI_ERR_FILE;
        }
    }
    if (prepared_) {
        return MPI_SUCCESS;
    }
    const int code = real::set_view(stand_in_, displacement_, etype_.get(), filetype_.get(),
                                    "native", MPI_INFO_NULL);
    prepared_ = code == MPI_SUCCESS;
    return code;
}

// Reports an error of the stand-in by the error handler of the program's handle.
int HeldView::raised(int code) const { return code == MPI_SUCCESS ? code : raise(file_, code); }

int HeldView::seek_from_end(MPI_Offset offset) {
    expects(here_, "this rank holds its view");
    const std::lock_guard lock(pointer_);
    MPI_Offset position = 0;
    int code = prepare();
    if (code == MPI_SUCCESS) {
        code = real::seek(stand_in_, offset, MPI_SEEK_END);
    }
    if (code == MPI_SUCCESS) {
        real::get_position(stand_in_, &position);
        return real::seek(file_, position, MPI_SEEK_SET);
    }
    return raised(code);
}

int HeldView::get_byte_offset(MPI_Offset offset, MPI_Offset* displacement) {
    expects(here_, "this rank holds its view");
    const std::lock_guard lock(pointer_);
    int code = prepare();
    if (code == MPI_SUCCESS) {
        code = real::get_byte_offset(stand_in_, offset, displacement);
    }
    return raised(code);
}

// The individual file pointer is that of the program's handle; the stand-in gets it before the
// access, and gives it back after.
int HeldView::from_pointer(PassOn pass) {
    MPI_Offset position = 0;
    real::get_position(file_, &position);
    int code = real::seek(stand_in_, position, MPI_SEEK_SET);
    if (code == MPI_SUCCESS) {
        code = pass(stand_in_);
        real::get_position(stand_in_, &position);
        real::seek(file_, position, MPI_SEEK_SET);
    }
    return code;
}

int HeldView::access(AccessStart start, PassOn pass) {
    expects(here_, "this rank holds its view");
    if (start == AccessStart::shared_pointer) {
        say("cannot use the shared file pointer of " + name_ +
            " (its view has very many pieces, so Forebay keeps it from the MPI). Open the file "
            "with the hint forebay_enabled=false, or use a collective call.");
        return raise(file_, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    std::unique_lock lock(pointer_);
    int code = prepare();
    if (code == MPI_SUCCESS && start == AccessStart::pointer) {
        code = from_pointer(pass);
    } else if (code == MPI_SUCCESS) {
        lock.unlock();
        code = pass(stand_in_);
    }
    return raised(code);
}

int HeldView::sync() noexcept {
    return stand_in_ == MPI_FILE_NULL ? MPI_SUCCESS : raised(real::sync(stand_in_));
}

int HeldView::close() noexcept {
    return stand_in_ == MPI_FILE_NULL ? MPI_SUCCESS : real::close(&stand_in_);
}

}  // namespace forebay::interposer
