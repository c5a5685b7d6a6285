// An MPI for unit tests: the functions that Forebay's own classes call, linked instead of a libmpi.
// It has one rank, which is real enough for the engine to work; a test sets what other ranks would
// contribute. Every call is logged by its name without "PMPI_", and a test can make any call fail.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::interposer::scripted {

// A datatype as MPI_Type_get_envelope and MPI_Type_get_contents describe it.
struct Type {
    int combiner = MPI_COMBINER_NAMED;
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
    MPI_Count size = 0;
    MPI_Count extent = 0;
};

// An open file as the MPI knows it.
struct File {
    std::string name;
    int amode = 0;
    MPI_Offset displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    MPI_Offset position = 0;
    bool open = true;
    std::vector<int> raised;  // error codes that its error handler has got
};

// A generalised request; its handle is its number, from 1 on.
struct Generalised {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* state = nullptr;
    bool complete = false;
};

struct Script {
    int rank = 0;
    int ranks = 1;  // what MPI_Comm_size tells; only this rank does anything
    bool finalized = false;
    MPI_Errhandler handler_at_open = MPI_ERRORS_RETURN;
    std::vector<int> others;                 // the others' values in the next reductions of one int
    std::vector<std::int64_t> others_table;  // their table in the next user-defined reduction
    std::map<std::string, int> failing;      // by name: the error code of its next call
    std::map<std::string, std::string> info;
    std::map<MPI_Datatype, Type> types;
    std::map<MPI_Comm, MPI_Comm> made_of;  // by communicator: the one it was made from
    std::vector<std::unique_ptr<File>> files;
    std::vector<std::string> log;
    MPI_Count elements = -1;  // that the last status was set to
    std::vector<Generalised> requests;
    MPI_User_function* operation = nullptr;
    MPI_Comm_delete_attr_function* at_finalize = nullptr;

    [[nodiscard]] int calls(std::string_view name) const;
    // `count` blocks of `length` bytes, `stride` bytes from one to the next.
    MPI_Datatype make_vector(int count, int length, int stride);
    MPI_File make_file(const std::string& name, int amode);
};

[[nodiscard]] Script& script();
[[nodiscard]] File& file_of(MPI_File handle);

// Begins with a fresh script, and binds Forebay's calls of MPI_File_ functions to scripted ones.
void begin();

// A path for a file called `name` that only this process uses, because tests may run at the same
// time.
[[nodiscard]] std::string own_path(std::string_view name);

// Logs a call. Returns the error code that it is to fail with, or MPI_SUCCESS.
int called(std::string_view name);

// The scripted function MPI_File_`name`; null if there is none.
[[nodiscard]] void* file_function(std::string_view name);

}  // namespace forebay::interposer::scripted
