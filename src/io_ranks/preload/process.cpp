// Finds the MPI, cuts the world within MPI_Init, and tells this rank's I/O rank when the program
// finalizes its MPI or ends.
#include "io_ranks/preload/process.hpp"

#include "collective/preload/libmpi.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/older_libc.hpp"
#include "io_ranks/names.hpp"
#include "io_ranks/preload/environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

extern "C" {
extern void* forebay_io_ranks_slots[];
extern std::uint64_t forebay_io_ranks_mask;
extern std::uint64_t forebay_io_ranks_world;
extern std::uint64_t forebay_io_ranks_compute;
[[gnu::visibility("hidden")]] void forebay_io_ranks_bind() noexcept;
}

namespace forebay::io_ranks {

namespace {

using interposer::Family;

#if defined(OPEN_MPI)
constexpr Family own_family = Family::openmpi;
#else
constexpr Family own_family = Family::mpich;
#endif

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the MPI has one state a process
ProcessState state;
pthread_once_t bound = PTHREAD_ONCE_INIT;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void say(const char* problem, const char* why, const char* next) noexcept {
    std::fprintf(stderr, "forebay: %s (%s). %s\n", problem, why, next);
}

int missing() noexcept {
    say("an MPI function was called that this MPI does not have", "it is of another version",
        "Build the program with the MPI that it runs with.");
    return MPI_ERR_OTHER;
}

void* function_in(const char* name, void* libmpi) noexcept {
    void* found = dlsym(RTLD_NEXT, name);
    return found != nullptr ? found : dlsym(libmpi, name);
}

void bind() noexcept {
    const interposer::MpiLibrary found =
        interposer::find_libmpi(reinterpret_cast<void*>(&forebay_io_ranks_bind));
    if (found.handle == nullptr) {
        say("cannot go on with an MPI call", "no MPI library is mapped in this process",
            "Link the program to a shared MPI library.");
        std::abort();
    }
    bool is_complete = true;
    for (unsigned i = 0; i < function_count; ++i) {
        void* function = function_in(function_names[i], found.handle);
        is_complete = is_complete && function != nullptr;
        function = function != nullptr ? function : reinterpret_cast<void*>(&missing);
        __atomic_store_n(&forebay_io_ranks_slots[i], function, __ATOMIC_RELEASE);
    }
    if (found.family == own_family && find_calls(found.handle, state.mpi)) {
        state.libmpi = found.handle;
        state.is_complete = is_complete;
    }
}

bool is_first_process() noexcept {
    for (const char* variable :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK",
          "PALS_RANKID", "ALPS_APP_PE", "SLURM_PROCID"}) {
        const int rank = number_in(variable, -1);
        if (rank >= 0) {
            return rank == 0;
        }
    }
    return true;
}

// `forebay run` looks for this file, whose name is that of the record with an ending.
void note(const WorldShape& shape) noexcept {
    const char* record = std::getenv("FOREBAY_RECORD");
    if (record == nullptr) {
        return;
    }
    char path[4096];
    char text[64];
    if (std::snprintf(path, sizeof path, "%s.io-ranks", record) >= static_cast<int>(sizeof path)) {
        return;
    }
    const int length = std::snprintf(text, sizeof text, "%d %d\n", shape.ranks, shape.io_ranks);
    const int file = kernel::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        kernel::write(file, text, static_cast<std::size_t>(length));
        kernel::close(file);
    }
}

void leave_out(const char* why) noexcept {
    if (is_first_process()) {
        say("there are no I/O ranks, and the program has all ranks", why,
            "See docs/io-ranks.md of Forebay for what can be done.");
    }
}

void set_translation(MPI_Comm compute) noexcept {
    forebay_io_ranks_compute = bits_of(compute);
    forebay_io_ranks_world = bits_of(state.mpi.world);
    __atomic_store_n(&forebay_io_ranks_mask, handle_mask, __ATOMIC_RELEASE);
}

void end_translation() noexcept {
    __atomic_store_n(&forebay_io_ranks_mask, 0, __ATOMIC_RELEASE);
    forebay_io_ranks_world = 1;  // which nothing equals that the mask leaves
}

// Ranks that leave without MPI_Finalize would be waited for.
void at_exit() noexcept {
    int is_over = 0;
    if (!state.has_left && state.mpi.finalized(&is_over) == MPI_SUCCESS && is_over == 0) {
        end_world();
    }
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
    *is_copied = 0;
    return MPI_SUCCESS;
}

int free_world(MPI_Comm, int, void*, void*) {
    state.mpi.comm_free(&state.world.own);
    end_translation();
    return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF, the first one last, when all of the MPI can
// still be called. The attributes of the program's world have to be deleted, too.
void free_world_at_last() noexcept {
    int key = 0;
    state.mpi.comm_create_keyval(&copy_nothing, &free_world, &key, nullptr);
    state.mpi.comm_set_attr(state.mpi.self, key, nullptr);
}

// Without the program's own handlers, which expect a program that has run.
[[noreturn]] void be_io_rank() noexcept {
    serve(state.mpi, state.world);
    state.mpi.finalize();
    _exit(0);
}

}  // namespace

ProcessState& process() noexcept {
    kernel::call_once(bound, &bind);
    return state;
}

void* next_function(const char* name) noexcept {
    static_cast<void>(process());
    void* found = dlsym(RTLD_NEXT, name);
    return found != nullptr || state.libmpi == nullptr ? found : dlsym(state.libmpi, name);
}

void begin_world() noexcept {
    WorldShape shape = asked_shape();
    if (shape.io_ranks == 0 || state.is_cut) {
        return;
    }
    if (process().libmpi == nullptr || !state.is_complete) {
        leave_out("Forebay has no I/O ranks for the MPI of this program, or for its version");
        return;
    }
    state.mpi.comm_size(state.mpi.world, &shape.ranks);
    if (const char* why = obstacle(state.mpi, shape)) {
        leave_out(why);
        return;
    }
    state.world = cut(state.mpi, shape);
    const bool computes = state.world.role.kind == RoleKind::compute;
    if (computes) {
        set_translation(state.world.own);
    }
    const bool sees = !computes || program_sees(state.mpi, state.world);
    if (!all_agree(state.mpi, state.world, sees)) {
        end_translation();
        give_back(state.mpi, state.world);
        leave_out(
            "the program's own calls would see the whole world: another library, or the "
            "program itself, has its MPI functions");
        return;
    }
    if (!computes) {
        be_io_rank();
    }
    state.is_cut = true;
    say_new_size(state.mpi, state.world);
    free_world_at_last();
    std::atexit(&at_exit);
    if (state.world.role.number == 0) {
        note(shape);
    }
}

void end_world() noexcept {
    if (state.is_cut && !state.has_left) {
        state.has_left = true;
        take_leave(state.mpi, state.world);
    }
}

}  // namespace forebay::io_ranks

void forebay_io_ranks_bind() noexcept { static_cast<void>(forebay::io_ranks::process()); }
