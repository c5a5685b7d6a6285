// No memory is left for the core while a call is made.  no_memory FILE CASE
//   alone      a call that nobody waits for ends with an error class, and works again later
//   datatypes  one rank has no memory for its datatypes: the call is left to the MPI by all
//   together   one rank has none at all where the others wait for it: the job ends
// Prints "ok". Needs no more of a C++ library than GCC 8's has (tools/ci/cpp_libraries.sh).
#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

extern "C" void* __libc_malloc(std::size_t bytes) noexcept;

namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
std::size_t largest = everything;  // allocation that succeeds

// The core has its own C++ library, and so its own operator new, which calls malloc.
bool is_of_the_core(const void* caller) {
    Dl_info info{};
    return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
           (std::strstr(info.dli_fname, "libforebay_core_") != nullptr ||
            std::strstr(info.dli_fname, "libstdc++") != nullptr);
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) noexcept {
    if (bytes > largest && is_of_the_core(__builtin_return_address(0))) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(bytes);
}

namespace {

int rank = 0;
int ranks = 0;

void must(bool held, const char* what) {
    if (!held) {
        std::fprintf(stderr, "no_memory: rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int class_of(int code) {
    int found = MPI_SUCCESS;
    MPI_Error_class(code, &found);
    return found;
}

template <class Call>
int with_no_more_than(std::size_t bytes, const Call& call) {
    largest = bytes;
    const int code = call();
    largest = everything;
    return code;
}

void alone(MPI_File file) {
    MPI_Info info = MPI_INFO_NULL;
    const int code = with_no_more_than(0, [&] { return MPI_File_get_info(file, &info); });
    must(class_of(code) == MPI_ERR_NO_MEM, "another class");
    errno = 77;
    must(MPI_File_get_info(file, &info) == MPI_SUCCESS, "it does not work any more");
    must(errno == 77, "errno was changed by a call that succeeded");
    MPI_Info_free(&info);
}

// As many bytes as `entries`, at odd places.
MPI_Datatype scattered(int entries) {
    const auto at = std::make_unique<int[]>(static_cast<std::size_t>(entries));
    for (int i = 0; i < entries; ++i) {
        at[i] = 3 * i + (i * i) % 3;
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(entries, 1, at.get(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

void datatypes(MPI_File file) {
    constexpr int entries = 100'000;
    const std::size_t limit = rank == 1 ? 32768 : everything;
    const std::string bytes(3 * entries, static_cast<char>('a' + rank));
    std::string got(entries, '\0');
    MPI_Datatype type = scattered(entries);
    const auto check = [&](const char* what, MPI_Offset at) {
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        got.assign(entries, '\0');
        must(MPI_File_read_at(file, at, got.data(), entries, MPI_BYTE, MPI_STATUS_IGNORE) ==
                 MPI_SUCCESS,
             what);
        must(got.compare(0, entries, bytes, 0, entries) == 0, what);
    };
    const MPI_Offset own = MPI_Offset{entries} * rank;
    must(with_no_more_than(limit,
                           [&] {
                               return MPI_File_write_at_all(file, own, bytes.data(), 1, type,
                                                            MPI_STATUS_IGNORE);
                           }) == MPI_SUCCESS,
         "memory's type");
    check("memory's type: other bytes", own);
    must(with_no_more_than(limit,
                           [&] {
                               return MPI_File_set_view(file, 4 * entries * rank, MPI_BYTE, type,
                                                        "native", MPI_INFO_NULL);
                           }) == MPI_SUCCESS,
         "file's type");
    must(MPI_File_write_at_all(file, 0, bytes.data(), entries, MPI_BYTE, MPI_STATUS_IGNORE) ==
             MPI_SUCCESS,
         "write through it");
    check("file's type: other bytes", 0);
    MPI_Type_free(&type);
}

void together(MPI_File file) {
    char letter = 'x';
    with_no_more_than(rank == 1 ? 0 : everything, [&] {
        return MPI_File_write_at_all(file, rank, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    });
    must(false, "the call came back");
}

// The program's own exceptions go through its own library, whatever the core's does.
void catch_own() {
    std::string caught;
    try {
        throw std::runtime_error("the program's own");
    } catch (const std::exception& error) {
        caught = error.what();
    }
    must(caught == "the program's own", "an exception was lost");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 3, "usage: no_memory FILE CASE");
    MPI_File file = MPI_FILE_NULL;
    must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS,
         "open");
    catch_own();
    const char* name = argv[2];
    if (std::strcmp(name, "alone") == 0) {
        alone(file);
    } else if (std::strcmp(name, "datatypes") == 0) {
        datatypes(file);
    } else {
        together(file);
    }
    catch_own();
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("ok\n");
    }
    MPI_Finalize();
    return 0;
}
