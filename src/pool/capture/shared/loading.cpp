// A program's requests to the loader: functions by their names, and libraries. See loader.S.
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/named_files.hpp"
#include "pool/capture/processes/process.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

extern "C" {

// Shared with process.cpp and loader.S.
extern void* forebay_real_loader[4];
void* forebay_find_loader(unsigned number) noexcept;

void* forebay_look_up(void* handle, const char* name) noexcept;
void* forebay_look_up_version(void* handle, const char* name, const char* version) noexcept;
bool forebay_captures_name(const char* name) noexcept;
void forebay_before_dlopen(const char* path, int flags) noexcept;
void forebay_before_dlmopen(Lmid_t space, const char* path, int flags) noexcept;
}

namespace {

void* loader_function(unsigned number) noexcept {
    void* const known = __atomic_load_n(&forebay_real_loader[number], __ATOMIC_RELAXED);
    return known != nullptr ? known : forebay_find_loader(number);
}

// The loader opens and maps it inside. A name alone is looked for in folders that only the loader
// knows: a library that has been closed is drained.
void drain_library(const char* path) noexcept {
    if (path != nullptr && std::strchr(path, '/') != nullptr) {
        static_cast<void>(forebay::capture::drain_named(AT_FDCWD, path, 0));
    }
}

}  // namespace

// In one library. (Everywhere, or behind the caller, is the loader's to look: loader.S.)
void* forebay_look_up(void* handle, const char* name) noexcept {
    using Function = void* (*)(void*, const char*);
    void* const found = reinterpret_cast<Function>(loader_function(0))(handle, name);
    return forebay::capture::ours_for(found, name);
}

void* forebay_look_up_version(void* handle, const char* name, const char* version) noexcept {
    using Function = void* (*)(void*, const char*, const char*);
    void* const found = reinterpret_cast<Function>(loader_function(1))(handle, name, version);
    return forebay::capture::ours_for(found, name);
}

bool forebay_captures_name(const char* name) noexcept {
    return forebay::capture::is_captured(name);
}

// A library that prefers what it brings along (RTLD_DEEPBIND), libc among it, calls that past us.
void forebay_before_dlopen(const char* path, int flags) noexcept {
    drain_library(path);
    if ((flags & RTLD_DEEPBIND) != 0 && (flags & RTLD_NOLOAD) == 0) {
        forebay::capture::leave_for_good();
    }
}

// A name space of its own has a libc of its own.
void forebay_before_dlmopen(Lmid_t space, const char* path, int flags) noexcept {
    forebay_before_dlopen(path, flags);
    if (space != LM_ID_BASE) {
        forebay::capture::leave_for_good();
    }
}
