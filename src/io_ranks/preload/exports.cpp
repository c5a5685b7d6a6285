// The functions of MPI for which it is not enough to replace the world among their arguments, by
// both of their names. The world itself stands here as the program has written it.
#include "io_ranks/preload/process.hpp"

#include <cstdio>
#include <initializer_list>

namespace forebay::io_ranks {

namespace {

template <class Function, class... Arguments>
int call_next(const char* name, Function*, Arguments... arguments) noexcept {
    auto* function = reinterpret_cast<Function*>(next_function(name));
    return function != nullptr ? function(arguments...) : MPI_ERR_OTHER;
}

bool is_world(MPI_Comm comm) noexcept { return process().is_cut && comm == process().mpi.world; }

MPI_Comm replaced(MPI_Comm comm) noexcept { return is_world(comm) ? process().world.own : comm; }

bool is_predefined(int key) noexcept {
    for (const int one : {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE,
                          MPI_LASTUSEDCODE, MPI_APPNUM}) {
        if (key == one) {
            return true;
        }
    }
    return false;
}

// The program sees fewer slots by the number of I/O ranks, as if it had been started without them.
void correct_universe(void* value, const int* found) noexcept {
    ProcessState& own = process();
    int*& slots = *static_cast<int**>(value);
    if (*found == 0 || slots == nullptr || *slots < own.world.shape.ranks) {
        return;
    }
    own.universe = *slots - own.world.shape.io_ranks;
    slots = &own.universe;
}

int get_attribute(const char* name, MPI_Comm comm, int key, void* value, int* found) noexcept {
    const bool is_of_true_world = is_world(comm) && is_predefined(key);
    const int status = call_next(name, &PMPI_Comm_get_attr,
                                 is_of_true_world ? comm : replaced(comm), key, value, found);
    if (status == MPI_SUCCESS && is_of_true_world && key == MPI_UNIVERSE_SIZE) {
        correct_universe(value, found);
    }
    return status;
}

int set_error_handler(const char* name, MPI_Comm comm, MPI_Errhandler handler) noexcept {
    const int status = call_next(name, &PMPI_Comm_set_errhandler, replaced(comm), handler);
    if (status == MPI_SUCCESS && is_world(comm)) {
        return process().mpi.comm_set_errhandler(comm, handler);
    }
    return status;
}

int refuse_spawn(MPI_Comm comm) noexcept {
    std::fprintf(stderr,
                 "forebay: cannot spawn processes (their world would lose I/O ranks, too). Run the "
                 "program without --io-ranks.\n");
    process().mpi.comm_call_errhandler(replaced(comm), MPI_ERR_SPAWN);
    return MPI_ERR_SPAWN;
}

#if MPI_VERSION >= 4
// A session's process sets have the true world.
int refuse_session(MPI_Session* session) noexcept {
    std::fprintf(stderr,
                 "forebay: cannot begin a session (I/O ranks are for programs that call MPI_Init). "
                 "Run the program without --io-ranks.\n");
    *session = MPI_SESSION_NULL;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
#endif

int initialise(const char* name, int* count, char*** words) noexcept {
    const int status = call_next(name, &PMPI_Init, count, words);
    if (status == MPI_SUCCESS) {
        begin_world();
    }
    return status;
}

int initialise_threads(const char* name, int* count, char*** words, int asked,
                       int* given) noexcept {
    const int status = call_next(name, &PMPI_Init_thread, count, words, asked, given);
    if (status == MPI_SUCCESS) {
        begin_world();
    }
    return status;
}

int finalise(const char* name) noexcept {
    end_world();
    return call_next(name, &PMPI_Finalize);
}

}  // namespace

// Named by labels, since some headers make macros of functions that MPI-3 has removed.
extern "C" {

#pragma GCC visibility push(default)

int init(int* count, char*** words) noexcept asm("MPI_Init");
int pinit(int* count, char*** words) noexcept asm("PMPI_Init");
int init_thread(int* count, char*** words, int asked, int* given) noexcept asm("MPI_Init_thread");
int pinit_thread(int* count, char*** words, int asked, int* given) noexcept asm("PMPI_Init_thread");
int finalize() noexcept asm("MPI_Finalize");
int pfinalize() noexcept asm("PMPI_Finalize");
int abort_all(MPI_Comm comm, int code) noexcept asm("MPI_Abort");
int pabort_all(MPI_Comm comm, int code) noexcept asm("PMPI_Abort");
int attr_get(MPI_Comm comm, int key, void* value, int* found) noexcept asm("MPI_Attr_get");
int pattr_get(MPI_Comm comm, int key, void* value, int* found) noexcept asm("PMPI_Attr_get");
int comm_get_attr(MPI_Comm comm, int key, void* value, int* found) noexcept
    asm("MPI_Comm_get_attr");
int pcomm_get_attr(MPI_Comm comm, int key, void* value, int* found) noexcept
    asm("PMPI_Comm_get_attr");
int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) noexcept
    asm("MPI_Comm_set_errhandler");
int pcomm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) noexcept
    asm("PMPI_Comm_set_errhandler");
int errhandler_set(MPI_Comm comm, MPI_Errhandler handler) noexcept asm("MPI_Errhandler_set");
int perrhandler_set(MPI_Comm comm, MPI_Errhandler handler) noexcept asm("PMPI_Errhandler_set");
int comm_spawn(const char* command, char** words, int count, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* made, int* codes) noexcept asm("MPI_Comm_spawn");
int pcomm_spawn(const char* command, char** words, int count, MPI_Info info, int root,
                MPI_Comm comm, MPI_Comm* made, int* codes) noexcept asm("PMPI_Comm_spawn");
int comm_spawn_multiple(int commands, char** command, char*** words, const int* counts,
                        const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                        int* codes) noexcept asm("MPI_Comm_spawn_multiple");
int pcomm_spawn_multiple(int commands, char** command, char*** words, const int* counts,
                         const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                         int* codes) noexcept asm("PMPI_Comm_spawn_multiple");

int init(int* count, char*** words) noexcept { return initialise("MPI_Init", count, words); }

int pinit(int* count, char*** words) noexcept { return initialise("PMPI_Init", count, words); }

int init_thread(int* count, char*** words, int asked, int* given) noexcept {
    return initialise_threads("MPI_Init_thread", count, words, asked, given);
}

int pinit_thread(int* count, char*** words, int asked, int* given) noexcept {
    return initialise_threads("PMPI_Init_thread", count, words, asked, given);
}

int finalize() noexcept { return finalise("MPI_Finalize"); }

int pfinalize() noexcept { return finalise("PMPI_Finalize"); }

// The true world's, so that I/O ranks end, too.
int abort_all(MPI_Comm comm, int code) noexcept {
    return call_next("MPI_Abort", &PMPI_Abort, comm, code);
}

int pabort_all(MPI_Comm comm, int code) noexcept {
    return call_next("PMPI_Abort", &PMPI_Abort, comm, code);
}

int attr_get(MPI_Comm comm, int key, void* value, int* found) noexcept {
    return get_attribute("MPI_Attr_get", comm, key, value, found);
}

int pattr_get(MPI_Comm comm, int key, void* value, int* found) noexcept {
    return get_attribute("PMPI_Attr_get", comm, key, value, found);
}

int comm_get_attr(MPI_Comm comm, int key, void* value, int* found) noexcept {
    return get_attribute("MPI_Comm_get_attr", comm, key, value, found);
}

int pcomm_get_attr(MPI_Comm comm, int key, void* value, int* found) noexcept {
    return get_attribute("PMPI_Comm_get_attr", comm, key, value, found);
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) noexcept {
    return set_error_handler("MPI_Comm_set_errhandler", comm, handler);
}

int pcomm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) noexcept {
    return set_error_handler("PMPI_Comm_set_errhandler", comm, handler);
}

int errhandler_set(MPI_Comm comm, MPI_Errhandler handler) noexcept {
    return set_error_handler("MPI_Errhandler_set", comm, handler);
}

int perrhandler_set(MPI_Comm comm, MPI_Errhandler handler) noexcept {
    return set_error_handler("PMPI_Errhandler_set", comm, handler);
}

int comm_spawn(const char* command, char** words, int count, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* made, int* codes) noexcept {
    if (process().is_cut) {
        return refuse_spawn(comm);
    }
    return call_next("MPI_Comm_spawn", &PMPI_Comm_spawn, command, words, count, info, root, comm,
                     made, codes);
}

int pcomm_spawn(const char* command, char** words, int count, MPI_Info info, int root,
                MPI_Comm comm, MPI_Comm* made, int* codes) noexcept {
    if (process().is_cut) {
        return refuse_spawn(comm);
    }
    return call_next("PMPI_Comm_spawn", &PMPI_Comm_spawn, command, words, count, info, root, comm,
                     made, codes);
}

int comm_spawn_multiple(int commands, char** command, char*** words, const int* counts,
                        const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                        int* codes) noexcept {
    if (process().is_cut) {
        return refuse_spawn(comm);
    }
    return call_next("MPI_Comm_spawn_multiple", &PMPI_Comm_spawn_multiple, commands, command, words,
                     counts, infos, root, comm, made, codes);
}

int pcomm_spawn_multiple(int commands, char** command, char*** words, const int* counts,
                         const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                         int* codes) noexcept {
    if (process().is_cut) {
        return refuse_spawn(comm);
    }
    return call_next("PMPI_Comm_spawn_multiple", &PMPI_Comm_spawn_multiple, commands, command,
                     words, counts, infos, root, comm, made, codes);
}

#if MPI_VERSION >= 4
int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) noexcept
    asm("MPI_Session_init");
int psession_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) noexcept
    asm("PMPI_Session_init");

int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) noexcept {
    if (asked_shape().io_ranks > 0) {
        return refuse_session(session);
    }
    return call_next("MPI_Session_init", &PMPI_Session_init, info, handler, session);
}

int psession_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) noexcept {
    if (asked_shape().io_ranks > 0) {
        return refuse_session(session);
    }
    return call_next("PMPI_Session_init", &PMPI_Session_init, info, handler, session);
}
#endif

#pragma GCC visibility pop

}  // extern "C"

}  // namespace forebay::io_ranks
