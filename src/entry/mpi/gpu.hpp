// Whether a buffer lies in GPU memory, which the engine cannot copy from. Asks the CUDA or HIP
// library only if the program itself has loaded it.
#pragma once

namespace forebay::entry {

[[nodiscard]] bool is_gpu_memory(const void* address) noexcept;

}  // namespace forebay::entry
