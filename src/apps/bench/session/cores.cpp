// See cores.hpp.
#include "apps/bench/session/cores.hpp"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

namespace forebay::bench {

int cores_of(MPI_Comm node) {
    cpu_set_t own;
    CPU_ZERO(&own);
    cpu_set_t all = own;
    ::sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
    // A machine of more cores than a mask holds says nothing.
    const long online = std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L);
    return CPU_COUNT(&all) > 0 ? CPU_COUNT(&all) : static_cast<int>(online);
}

}  // namespace forebay::bench
