// Splits the world into a communicator of the program's ranks and one of the I/O ranks, checks that
// the program sees the first, and lets I/O ranks sleep until the ranks that they serve have left.
#include "io_ranks/preload/world.hpp"

#include "foundation/kernel/older_libc.hpp"
#include "io_ranks/preload/environment.hpp"

#include <cstdio>
#include <cstring>
#include <ctime>

namespace forebay::io_ranks {

namespace {

constexpr int leave_tag = 1;
// How long an I/O rank sleeps between two looks at its messages.
constexpr long sleep_nanoseconds_min = 100'000;
constexpr long sleep_nanoseconds_max = 20'000'000;

using CommSize = decltype(&PMPI_Comm_size);
using FortranCommSize = void (*)(int* comm, int* size, int* error);

bool c_sees(const char* name, const MpiCalls& mpi, int wanted) noexcept {
    const auto size_of = reinterpret_cast<CommSize>(dlsym(RTLD_DEFAULT, name));
    int size = 0;
    // Where nobody in the global scope has it, the program's calls do not come from there.
    return size_of != nullptr && size_of(mpi.world, &size) == MPI_SUCCESS && size == wanted;
}

// A program that is not in Fortran has none of these names.
bool fortran_sees(const char* name, const MpiCalls& mpi, int wanted) noexcept {
    const auto size_of = reinterpret_cast<FortranCommSize>(dlsym(RTLD_DEFAULT, name));
    if (size_of == nullptr) {
        return true;
    }
    int comm = mpi.fortran_world;
    int size = 0;
    int error = 0;
    size_of(&comm, &size, &error);
    return error == MPI_SUCCESS && size == wanted;
}

// Whether the MPI is of the version that this library was built with: another one may have
// functions that are not replaced here. Open MPI 5 has functions of MPI-4, and says that it is an
// MPI-3.1.
bool is_of_this_version(const MpiCalls& mpi) noexcept {
    int version = 0;
    int subversion = 0;
    mpi.get_version(&version, &subversion);
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    mpi.get_library_version(text, &length);
    char own[64] = {};
#if defined(OPEN_MPI)
    std::snprintf(own, sizeof own, "v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
#elif defined(MPICH_VERSION)
    // As in "4.0.2", of which the first two numbers count. Others of the family do not say it so.
    const char* minor = std::strchr(MPICH_VERSION, '.');
    const char* end = minor == nullptr ? nullptr : std::strpbrk(minor + 1, ".abr");
    const int wanted = end == nullptr ? 0 : static_cast<int>(end - MPICH_VERSION);
    if (std::strncmp(text, "MPICH Version:", 14) == 0) {
        std::snprintf(own, sizeof own, "\t%.*s", wanted, MPICH_VERSION);
    }
#endif
    return version == MPI_VERSION && subversion == MPI_SUBVERSION &&
           std::strstr(text, own) != nullptr;
}

// MPI_INFO_ENV says how many processes were asked for.
void correct_info(const MpiCalls& mpi, const char* key, int size) noexcept {
    char text[MPI_MAX_INFO_VAL + 1] = {};
    int has = 0;
    if (mpi.info_get(mpi.info_env, const_cast<char*>(key), MPI_MAX_INFO_VAL, text, &has) !=
            MPI_SUCCESS ||
        has == 0) {
        return;
    }
    std::snprintf(text, sizeof text, "%d", size);
    mpi.info_set(mpi.info_env, const_cast<char*>(key), text);
}

}  // namespace

WorldShape asked_shape() noexcept {
    return {0, number_in("FOREBAY_IO_RANKS", 0), number_in("FOREBAY_IO_RANKS_SPREAD", 1)};
}

const char* obstacle(const MpiCalls& mpi, const WorldShape& shape) noexcept {
    if (!is_of_this_version(mpi)) {
        return "Forebay was built with another version of this MPI, and would not know all of its "
               "functions";
    }
    MPI_Comm parent = mpi.no_comm;
    mpi.comm_get_parent(&parent);
    if (parent != mpi.no_comm) {
        return "these ranks were started by MPI_Comm_spawn";
    }
    const ShapeFault fault = fault_of(shape);
    return fault == ShapeFault::none ? nullptr : text_of(fault);
}

CutWorld cut(const MpiCalls& mpi, const WorldShape& shape) noexcept {
    CutWorld world;
    world.shape = shape;
    int rank = 0;
    mpi.comm_rank(mpi.world, &rank);
    world.role = role_of(shape, rank);
    mpi.comm_split(mpi.world, static_cast<int>(world.role.kind), rank, &world.own);
    mpi.comm_dup(mpi.world, &world.control);
    return world;
}

bool all_agree(const MpiCalls& mpi, const CutWorld& world, bool mine) noexcept {
    int rank = 0;
    mpi.comm_rank(world.control, &rank);
    MPI_Comm like_minded{};
    // I/O ranks always agree, so that all ranks of a world cannot disagree together.
    mpi.comm_split(world.control, mine ? 0 : 1, rank, &like_minded);
    int count = 0;
    mpi.comm_size(like_minded, &count);
    mpi.comm_free(&like_minded);
    return count == world.shape.ranks;
}

bool program_sees(const MpiCalls& mpi, const CutWorld& world) noexcept {
    const int wanted = compute_ranks(world.shape);
    return c_sees("MPI_Comm_size", mpi, wanted) && c_sees("PMPI_Comm_size", mpi, wanted) &&
           fortran_sees("mpi_comm_size_", mpi, wanted) &&
           fortran_sees("pmpi_comm_size_", mpi, wanted) &&
           fortran_sees("mpi_comm_size_f08_", mpi, wanted);
}

void give_back(const MpiCalls& mpi, CutWorld& world) noexcept {
    mpi.comm_free(&world.own);
    mpi.comm_free(&world.control);
}

void say_new_size(const MpiCalls& mpi, const CutWorld& world) noexcept {
    mpi.comm_set_name(world.own, const_cast<char*>("MPI_COMM_WORLD"));
    RankPlacement now;
    now.size = compute_ranks(world.shape);
    now.rank = world.role.number;
    MPI_Comm node{};
    mpi.comm_split_type(world.own, MPI_COMM_TYPE_SHARED, now.rank, mpi.no_info, &node);
    mpi.comm_size(node, &now.local_size);
    mpi.comm_rank(node, &now.local_rank);
    mpi.comm_free(&node);
    rewrite_environment(now);
    correct_info(mpi, "maxprocs", now.size);
    correct_info(mpi, "np", now.size);
}

void take_leave(const MpiCalls& mpi, const CutWorld& world) noexcept {
    char nothing = 0;
    mpi.send(&nothing, 0, mpi.byte, world.role.server, leave_tag, world.control);
}

void serve(const MpiCalls& mpi, const CutWorld& world) noexcept {
    const RankRole& role = world.role;
    for (int from = role.first_served; from < role.first_served + role.served; ++from) {
        char nothing = 0;
        MPI_Request request{};
        mpi.irecv(&nothing, 0, mpi.byte, from, leave_tag, world.control, &request);
        long sleep = sleep_nanoseconds_min;
        int done = 0;
        MPI_Status status{};
        while (mpi.test(&request, &done, &status) == MPI_SUCCESS && done == 0) {
            const timespec pause{0, sleep};
            nanosleep(&pause, nullptr);
            sleep = sleep * 2 > sleep_nanoseconds_max ? sleep_nanoseconds_max : sleep * 2;
        }
    }
}

}  // namespace forebay::io_ranks
