// Uses no C++ runtime, because the stub is loaded into shells and launchers, too.
#include "collective/preload/libmpi.hpp"

#include "foundation/kernel/older_libc.hpp"

#include <link.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace forebay::interposer {

namespace {

constexpr std::size_t objects_max = 1024;  // maximum number of libraries that are looked at

struct LoadedObjects {
    const char* paths[objects_max];
    std::size_t count = 0;
};

int keep_path(dl_phdr_info* info, std::size_t, void* data) {
    auto* objects = static_cast<LoadedObjects*>(data);
    if (objects->count < objects_max && info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
        objects->paths[objects->count++] = info->dlpi_name;
    }
    return 0;
}

// Whether the library of `handle` itself defines `symbol`, and not one of its dependencies.
bool defines(void* handle, const char* path, const char* symbol) noexcept {
    void* address = dlsym(handle, symbol);
    Dl_info info{};
    return address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr &&
           std::strcmp(info.dli_fname, path) == 0;
}

Family family_of(void* handle, const char* path) noexcept {
    if (std::strstr(path, "libmpi_abi.so") != nullptr) {
        return Family::standard_abi;
    }
    if (defines(handle, path, "ompi_mpi_comm_world")) {
        return Family::openmpi;
    }
    // All libraries of the MPICH family define this object (also Intel MPI, Cray MPICH, MVAPICH).
    if (defines(handle, path, "MPI_F_STATUS_IGNORE")) {
        return Family::mpich;
    }
    return Family::none;
}

// Which libraries count as an MPI. A tool such as Darshan defines PMPI names, too, but none of the
// objects by which a known family is recognised.
enum class LibraryTrust { known_families, anything };

MpiLibrary try_object(const char* path, const char* own_path, LibraryTrust trust) noexcept {
    if (own_path != nullptr && std::strcmp(path, own_path) == 0) {
        return {};
    }
    void* handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) {
        return {};
    }
    if (!defines(handle, path, "PMPI_File_open") || !defines(handle, path, "PMPI_Init")) {
        dlclose(handle);
        return {};
    }
    const Family family = family_of(handle, path);
    if (family == Family::none && trust == LibraryTrust::known_families) {
        dlclose(handle);
        return {};
    }
    // The MPI symbols of the core are resolved in the global scope.
    dlopen(path, RTLD_NOLOAD | RTLD_NOW | RTLD_GLOBAL);
    return {family, handle, path};
}

}  // namespace

MpiLibrary find_libmpi(const void* own) noexcept {
    if (!kernel::has_loader()) {
        return {};
    }
    Dl_info self{};
    dladdr(own, &self);
    LoadedObjects objects;
    dl_iterate_phdr(&keep_path, &objects);
    for (const LibraryTrust trust : {LibraryTrust::known_families, LibraryTrust::anything}) {
        for (std::size_t i = 0; i < objects.count; ++i) {
            const MpiLibrary found = try_object(objects.paths[i], self.dli_fname, trust);
            if (found.handle != nullptr) {
                return found;
            }
        }
    }
    return {};
}

}  // namespace forebay::interposer
