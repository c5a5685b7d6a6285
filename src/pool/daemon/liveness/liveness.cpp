// Locks and unlocks the robust mutex that tells clients whether the daemon is alive.
#include "pool/daemon/liveness/liveness.hpp"

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <pthread.h>

namespace forebay::daemon {

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

void end_life(pool::DirectoryHeader& header, ShutdownOutcome ending) noexcept {
    if (ending == ShutdownOutcome::badly) {
        // Marks the mutex as the kernel does when the owner of a robust mutex dies. Nobody else
        // locks this mutex, so the order of these steps is never seen.
        auto& word = *reinterpret_cast<std::atomic<std::uint32_t>*>(&header.alive);
        word.fetch_or(FUTEX_OWNER_DIED);
        const std::uint32_t dead = word.load();
        ::pthread_mutex_unlock(&header.alive);
        word.store(dead);
        return;
    }
    // Nobody needs to wait for a round of the pool any more, as there will be none.
    header.taken_round.store(header.round.load() + 1);
    ::pthread_mutex_unlock(&header.alive);
}

}  // namespace forebay::daemon
