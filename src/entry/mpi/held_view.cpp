// See held_view.hpp.
#include "entry/mpi/held_view.hpp"

#include "base/contracts.hpp"
#include "entry/functions.hpp"
#include "entry/mpi/status.hpp"

#include <cstring>
#include <utility>

namespace forebay::entry {

namespace {

constexpr std::size_t small_nest_bytes = 65536;

}  // namespace

// The etype stands for the filetype at the MPI, so it must be a valid one: bytes without gaps.
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

HeldView::HeldView(MPI_File file, std::string name, int amode)
    : file_(file), name_(std::move(name)), amode_(amode) {}

int HeldView::set(const ViewArguments& arguments, bool hold, MPI_Comm communicator,
                  const LargeCountInquiry& inquiry) {
    const int mine = hold ? 1 : 0;
    int anyone = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Iallreduce(&mine, &anyone, 1, MPI_INT, MPI_MAX, communicator, &request);
    const int code = real::set_view(file_, arguments.displacement, arguments.etype,
                                    hold ? arguments.etype : arguments.filetype, arguments.datarep,
                                    arguments.info);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    here_ = hold && code == MPI_SUCCESS;
    anywhere_ = anyone != 0;
    prepared_ = false;
    const bool kept = anywhere_ && code == MPI_SUCCESS;
    displacement_ = arguments.displacement;
    etype_ = kept ? OwnType::keep(arguments.etype, inquiry) : OwnType();
    filetype_ = kept ? OwnType::keep(arguments.filetype, inquiry) : OwnType();
    return code;
}

// The shared pointer is at 0 as it was: nothing that moves it is done while a view is held.
int HeldView::tell() {
    if (!anywhere_) {
        return MPI_SUCCESS;
    }
    MPI_Offset position = 0;
    real::get_position(file_, &position);
    const int code = real::set_view(file_, displacement_, etype_.get(), filetype_.get(), "native",
                                    MPI_INFO_NULL);
    here_ = false;
    anywhere_ = false;
    etype_ = OwnType();
    filetype_ = OwnType();
    return code == MPI_SUCCESS ? real::seek(file_, position, MPI_SEEK_SET) : code;
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

// The stand-in has the program's view and hints, and leaves what is done at an end to the handle.
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
    }
    if (prepared_) {
        return MPI_SUCCESS;
    }
    const int code = real::set_view(stand_in_, displacement_, etype_.get(), filetype_.get(),
                                    "native", MPI_INFO_NULL);
    prepared_ = code == MPI_SUCCESS;
    return code;
}

// The program's handler is called on the program's handle.
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

// The individual pointer is the real handle's.
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

int HeldView::access(Start start, PassOn pass) {
    expects(here_, "this rank holds its view");
    if (start == Start::shared_pointer) {
        say("cannot use the shared file pointer of " + name_ +
            " (its view has very many pieces, so Forebay keeps it from the MPI). Open the file "
            "with the hint forebay_enabled=false, or use a collective call.");
        return raise(file_, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    std::unique_lock lock(pointer_);
    int code = prepare();
    if (code == MPI_SUCCESS && start == Start::pointer) {
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

}  // namespace forebay::entry
