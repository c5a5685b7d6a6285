// Finds the MPI library that is loaded in this process. RTLD_NEXT finds none if the program has
// loaded it by dlopen, as Python does. And the stub cannot link to an MPI (DT_NEEDED), because it
// does not know which soname there will be.
#pragma once

namespace forebay::interposer {

enum class Family { none, mpich, openmpi, standard_abi };

struct MpiLibrary {
    Family family = Family::none;
    void* handle = nullptr;  // of dlopen; the library is in the global scope
    const char* path = nullptr;
};

// `own`: an address in the calling library, which is skipped.
[[nodiscard]] MpiLibrary find_libmpi(const void* own) noexcept;

}  // namespace forebay::interposer
