// Random numbers of the kernel's. std::random_device would bring libc's open and read into what
// programs load, where a preloaded library may interpose them.
#pragma once

#include <cstdint>

namespace forebay::kernel {

// As unpredictable as getrandom(2) is. Ends the process where the kernel has none to give (Linux
// before 3.17, or a filter of system calls): what is not random must not pass for it.
std::uint64_t random_number() noexcept;

}  // namespace forebay::kernel
