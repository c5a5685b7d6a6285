// Source: cuda.h (cuPointerGetAttribute, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_MEMORYTYPE_DEVICE
// = 2) and hip_runtime_api.h (the same function and numbers).
#include "collective/mpi/gpu.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace forebay::interposer {

namespace {

constexpr int memory_type_attribute = 2;
constexpr unsigned device_memory = 2;

}  // namespace

GpuMemory GpuMemory::find() noexcept {
    GpuMemory found;
    found.askers_ = {reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cuPointerGetAttribute")),
                     reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "hipPointerGetAttribute"))};
    return found;
}

bool GpuMemory::holds(const void* address) const noexcept {
    return std::ranges::any_of(askers_, [address](Ask ask) {
        unsigned type = 0;
        return ask != nullptr &&
               ask(&type, memory_type_attribute, reinterpret_cast<std::uintptr_t>(address)) == 0 &&
               type == device_memory;
    });
}

}  // namespace forebay::interposer
