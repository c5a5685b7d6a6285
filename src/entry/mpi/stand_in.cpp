// See stand_in.hpp.
#include "entry/mpi/stand_in.hpp"

#include "entry/functions.hpp"

namespace forebay::entry {

int StandIn::prepare(const std::string& name, int amode, const FileView& view,
                     std::uint64_t serial) {
    if (handle_ == MPI_FILE_NULL) {
        const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
        const int code = real::open(MPI_COMM_SELF, name.c_str(), access, MPI_INFO_NULL, &handle_);
        if (code != MPI_SUCCESS) {
            handle_ = MPI_FILE_NULL;
            return code;
        }
        // The program's handler is called on the program's handle.
        real::set_errhandler(handle_, MPI_ERRORS_RETURN);
    }
    if (serial_ == serial) {
        return MPI_SUCCESS;
    }
    const int code = real::set_view(handle_, view.displacement, view.etype.get(),
                                    view.filetype.get(), "native", MPI_INFO_NULL);
    serial_ = code == MPI_SUCCESS ? serial : 0;
    return code;
}

int StandIn::sync() noexcept {
    return open() ? real::sync(handle_) : MPI_SUCCESS;
}

int StandIn::close() noexcept {
    return open() ? real::close(&handle_) : MPI_SUCCESS;
}

}  // namespace forebay::entry
