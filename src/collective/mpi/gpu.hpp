// Whether a buffer lies in GPU memory, which the engine cannot copy from. Asks the CUDA or HIP
// library only if the program itself has loaded it.
#pragma once

#include <array>
#include <cstdint>

namespace forebay::interposer {

class GpuMemory {
public:
    // Looks among the libraries that are loaded now. Later ones are not seen: programs load them
    // before their first access to a file.
    [[nodiscard]] static GpuMemory find() noexcept;

    [[nodiscard]] bool holds(const void* address) const noexcept;

private:
    using Ask = int (*)(void* value, int attribute, std::uintptr_t address);

    std::array<Ask, 2> askers_{};
};

}  // namespace forebay::interposer
