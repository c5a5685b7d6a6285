// Finds libc's dlsym, dlvsym, dlopen and dlmopen for shared/loader.S.
//
// These functions may run before this library's constructor: a constructor of another library may
// call dlsym first, and so does a sanitizer, before its own functions work. So this file and
// symbols.cpp are compiled without sanitizers, and call nothing outside of them.
#include "pool/capture/symbols/symbols.hpp"

namespace {

// Stands for a function that was not found: fails as those of the loader do.
void* no_loader() noexcept { return nullptr; }

constexpr const char* loader_names[] = {"dlsym", "dlvsym", "dlopen", "dlmopen"};

}  // namespace

extern "C" {
// In processes/process.cpp.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
extern void* forebay_real_loader[4];

void* forebay_find_loader(unsigned number) noexcept {
    void* found = forebay::capture::NextSymbols::find_behind(loader_names[number]);
    found = found != nullptr ? found : reinterpret_cast<void*>(&no_loader);
    __atomic_store_n(&forebay_real_loader[number], found, __ATOMIC_RELAXED);
    return found;
}
}
