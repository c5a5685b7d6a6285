// Calls getrandom(2), again if a signal interrupts it.
#include "foundation/kernel/random.hpp"

#include "foundation/kernel/system_call.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/syscall.h>

namespace forebay::kernel {

std::uint64_t random_number() noexcept {
    std::uint64_t number = 0;
    // Up to 256 bytes are given whole.
    while (system_call(SYS_getrandom, word_of(&number), sizeof number) < 0) {
        if (errno != EINTR) {
            std::abort();
        }
    }
    return number;
}

}  // namespace forebay::kernel
