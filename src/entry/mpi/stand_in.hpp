// A second handle on a file, open on this rank alone. While the file's view is held back from the
// MPI (file_view.hpp), the real handle has another view than the program set; setting it there is
// collective, but here it is not. Independent calls go through this one.
#pragma once

#include "entry/mpi/file_view.hpp"

#include <cstdint>
#include <mpi.h>
#include <string>

namespace forebay::entry {

class StandIn {
public:
    StandIn() noexcept = default;
    StandIn(const StandIn&) = delete;
    StandIn& operator=(const StandIn&) = delete;
    // Contract: closed.
    ~StandIn() = default;

    // The handle, open and with `view`; `serial` changes with the view. Returns an MPI error code.
    int prepare(const std::string& name, int amode, const FileView& view, std::uint64_t serial);
    [[nodiscard]] MPI_File get() const noexcept { return handle_; }
    [[nodiscard]] bool open() const noexcept { return handle_ != MPI_FILE_NULL; }
    int sync() noexcept;
    int close() noexcept;

private:
    MPI_File handle_ = MPI_FILE_NULL;
    std::uint64_t serial_ = 0;  // of the view it has; 0: none yet
};

}  // namespace forebay::entry
