// The output API's state in a process: its files, and the numbers that programs call them by.
#pragma once

#include "output/mpi/output_file.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mpi.h>
#include <string>

namespace forebay::output {

// A grid or a variable: its file's number, and its own in that file.
struct FilePart {
    int file = 0;
    std::size_t index = 0;
};

struct OutputSession {
    bool is_ready = false;          // between fbo_init and fbo_finalize
    MPI_Comm comm = MPI_COMM_NULL;  // given to the program
    // Numbers are used once in a process, and for one kind of thing.
    int next = 1;
    std::map<int, std::unique_ptr<OutputFile>> files;
    std::map<int, FilePart> grids;
    std::map<int, FilePart> variables;
    std::string error;  // of the last call that failed
};

[[nodiscard]] OutputSession& session() noexcept;

}  // namespace forebay::output
