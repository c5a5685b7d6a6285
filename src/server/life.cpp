// See life.hpp.
#include "server/life.hpp"

#include <pthread.h>

namespace forebay::server {

Result<void> begin_life(pool::DirectoryHeader& header) {
    pthread_mutexattr_t attributes;
    int wrong = ::pthread_mutexattr_init(&attributes);
    if (wrong == 0) {
        ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        wrong = ::pthread_mutex_init(&header.alive, &attributes);
        ::pthread_mutexattr_destroy(&attributes);
    }
    wrong = wrong == 0 ? ::pthread_mutex_lock(&header.alive) : wrong;
    if (wrong != 0) {
        return failure(system_error(wrong, "hold the mutex that shows that the daemon lives"));
    }
    return {};
}

void end_life(pool::DirectoryHeader& header) noexcept { ::pthread_mutex_unlock(&header.alive); }

}  // namespace forebay::server
