// Finds the MPI library that is mapped in this process. RTLD_NEXT does not do: it is null when the
// library was loaded by dlopen, as Python does, and DT_NEEDED would name a soname that is not
// there.
#pragma once

namespace forebay::interposer {

enum class Family { none, mpich, openmpi, standard_abi };

struct MpiLibrary {
    Family family = Family::none;
    void* handle = nullptr;  // from dlopen; promoted to global scope
    const char* path = nullptr;
};

// `own` is an address in this library, which is not what is looked for.
[[nodiscard]] MpiLibrary find_libmpi(const void* own) noexcept;

}  // namespace forebay::interposer
