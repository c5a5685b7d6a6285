// An MPI for unit tests: the functions that Forebay's own classes call, linked instead of a libmpi.
// It has one rank, real enough for the engine to work; the others are what a test says of them.
// Every call is logged by its name without "PMPI_", and any can be told to fail.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::interposer::scripted {

// A datatype as MPI_Type_get_envelope and _contents tell it.
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
    std::vector<int> raised;  // codes that its error handler got
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
    int ranks = 1;  // as told; nobody but this rank does anything
    bool finalized = false;
    MPI_Errhandler handler_at_open = MPI_ERRORS_RETURN;
    std::vector<int> others;                 // in the next reductions of one int, one each
    std::vector<std::int64_t> others_table;  // in the next reduction by an operation of our own
    std::map<std::string, int> failing;      // the next call of that name returns this
    std::map<std::string, std::string> info;
    std::map<MPI_Datatype, Type> types;
    std::map<MPI_Comm, MPI_Comm> made_of;  // communicators that were made
    std::vector<std::unique_ptr<File>> files;
    std::vector<std::string> log;
    MPI_Count elements = -1;  // of the last status
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

// A fresh script; Forebay's calls to MPI_File_ functions go to scripted ones.
void begin();

// A path of this process's own for a file called `name`; tests may run at the same time.
[[nodiscard]] std::string own_path(std::string_view name);

// Logs the call; an error code where it is to fail.
int called(std::string_view name);

// The MPI_File_ function of that name (without "MPI_File_"); null where there is none.
[[nodiscard]] void* file_function(std::string_view name);

}  // namespace forebay::interposer::scripted
