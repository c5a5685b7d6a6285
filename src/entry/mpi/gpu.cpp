// See gpu.hpp. Source: cuda.h (cuPointerGetAttribute, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
// CU_MEMORYTYPE_DEVICE = 2) and hip_runtime_api.h (the same question, the same numbers).
#include "entry/mpi/gpu.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>

namespace forebay::entry {

namespace {

using Ask = int (*)(void* value, int attribute, std::uintptr_t address);

constexpr int memory_type_attribute = 2;
constexpr unsigned device_memory = 2;

std::array<Ask, 2> askers() noexcept {
    return {reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cuPointerGetAttribute")),
            reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "hipPointerGetAttribute"))};
}

}  // namespace

bool is_gpu_memory(const void* address) noexcept {
    // Libraries that come later than the first access are not seen: programs load them before.
    static const std::array<Ask, 2> ask = askers();
    for (const Ask one : ask) {
        unsigned type = 0;
        if (one != nullptr && one(&type, memory_type_attribute,
                                  reinterpret_cast<std::uintptr_t>(address)) == 0 &&
            type == device_memory) {
            return true;
        }
    }
    return false;
}

}  // namespace forebay::entry
