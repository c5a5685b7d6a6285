// The C++ part of captured dlsym, dlvsym, dlopen and dlmopen; loader.S has the entry points.
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/named_files.hpp"
#include "pool/capture/processes/process.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

extern "C" {

// Defined in process.cpp, and used in loader.S.
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

// The loader opens and maps the library by internal calls. A name without a slash is looked up in
// directories that only the loader knows; such a library was drained when it was closed.
void drain_library(const char* path) noexcept {
    if (path != nullptr && std::strchr(path, '/') != nullptr) {
        static_cast<void>(forebay::capture::drain_named(AT_FDCWD, path, 0));
    }
}

}  // namespace

// dlsym with the handle of one library. (RTLD_DEFAULT and RTLD_NEXT depend on the caller's address:
// loader.S passes them on to the loader.)
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

// With RTLD_DEEPBIND a library prefers the symbols of what it brings along, and so may call libc
// past us.
void forebay_before_dlopen(const char* path, int flags) noexcept {
    drain_library(path);
    if ((flags & RTLD_DEEPBIND) != 0 && (flags & RTLD_NOLOAD) == 0) {
        forebay::capture::leave_for_good();
    }
}

// Another namespace has a libc of its own, whose calls are not captured.
void forebay_before_dlmopen(Lmid_t space, const char* path, int flags) noexcept {
    forebay_before_dlopen(path, flags);
    if (space != LM_ID_BASE) {
        forebay::capture::leave_for_good();
    }
}
