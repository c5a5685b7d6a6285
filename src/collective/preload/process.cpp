// Runs at the first call of an MPI_File_ function in a process, and never before. It finds the MPI,
// loads the core for the MPI's family from the directory of this library, and fills every slot with
// a function of the core or of the MPI. If the core cannot be used, the program goes on with the
// MPI's own functions.
#include "collective/preload/libmpi.hpp"
#include "foundation/base/switch_words.hpp"
#include "foundation/kernel/older_libc.hpp"
#include "preload/names.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern void* forebay_preload_slots[];
void forebay_preload_bind() noexcept;
}

namespace forebay::interposer {

namespace {

// `take_over` 0: the core gives only fallbacks for functions that the MPI does not have.
using CoreTable = void* const* (*)(void* const* real, void* libmpi, int take_over);

constexpr std::size_t path_max = 4096;

const char* core_name(Family family) noexcept {
    switch (family) {
        case Family::openmpi: return "libforebay_core_openmpi.so";
        case Family::standard_abi: return "libforebay_core_abi.so";
        default: return "libforebay_core_mpich.so";
    }
}

void say(const char* problem, const char* why, const char* next) noexcept {
    std::fprintf(stderr, "forebay: %s (%s). %s\n", problem, why, next);
}

// Takes the place of a function for which neither the MPI nor Forebay has one.
int missing() noexcept {
    say("an MPI_File function was called that this MPI does not have", "it is of a newer MPI",
        "Build the program with the MPI that it runs with.");
    return 1;
}

// The table of functions of the core; null if it cannot be loaded, after printing the reason.
void* const* load_core(const MpiLibrary& libmpi, void* const* real, int take_over) noexcept {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&forebay_preload_bind), &self);
    char path[path_max];
    const char* slash = self.dli_fname == nullptr ? nullptr : std::strrchr(self.dli_fname, '/');
    const int folder = slash == nullptr ? 0 : static_cast<int>(slash - self.dli_fname) + 1;
    std::snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, core_name(libmpi.family));
    void* core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char* why = core == nullptr ? dlerror() : "it has no table of functions";
    void* entry = core == nullptr ? nullptr : dlsym(core, "forebay_core_table");
    if (entry == nullptr) {
        say("Forebay is off: its core cannot be loaded", why,
            "The program goes on with the MPI's own file functions. Run `forebay doctor`.");
        return nullptr;
    }
    return reinterpret_cast<CoreTable>(entry)(real, libmpi.handle, take_over);
}

bool any_missing(void* const* real) noexcept {
    for (unsigned i = 0; i < function_count; ++i) {
        if (real[i] == nullptr) {
            return true;
        }
    }
    return false;
}

// The table of the core, or null if the MPI's own functions are to be used. A program that probes
// for the large-count functions of MPI-4 finds those of this library. So they must work with an
// older MPI, too, even if Forebay is disabled.
void* const* ours_for(const MpiLibrary& libmpi, void* const* real) noexcept {
    const bool off = switches_off(std::getenv("FOREBAY_ENABLED"));
    if (off && !any_missing(real)) {
        return nullptr;
    }
    if (libmpi.family != Family::none) {
        return load_core(libmpi, real, off ? 0 : 1);
    }
    if (off) {
        return nullptr;
    }
    say("Forebay is off: this MPI is of no family it knows", libmpi.path,
        "Use an MPI of the MPICH or the Open MPI family, or one with the standard ABI.");
    return nullptr;
}

void bind_all() noexcept {
    void* real[function_count];
    const MpiLibrary libmpi = find_libmpi(reinterpret_cast<void*>(&forebay_preload_bind));
    if (libmpi.handle == nullptr) {
        say("cannot go on with an MPI_File call", "no MPI library is mapped in this process",
            "Link the program to a shared MPI library, or take libforebay_mpi.so out of "
            "LD_PRELOAD.");
        std::abort();
    }
    for (unsigned i = 0; i < function_count; ++i) {
        real[i] = dlsym(libmpi.handle, function_names[i]);
    }
    void* const* ours = ours_for(libmpi, real);
    for (unsigned i = 0; i < function_count; ++i) {
        void* target = ours != nullptr && ours[i] != nullptr ? ours[i] : real[i];
        target = target != nullptr ? target : reinterpret_cast<void*>(&missing);
        __atomic_store_n(&forebay_preload_slots[i], target, __ATOMIC_RELEASE);
    }
}

}  // namespace

}  // namespace forebay::interposer

void forebay_preload_bind() noexcept {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    forebay::kernel::call_once(once, &forebay::interposer::bind_all);
}
