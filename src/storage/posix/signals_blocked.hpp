// Blocks the signals of a program while Forebay makes threads.
#pragma once

#include <csignal>
#include <pthread.h>

namespace forebay::adapters {

// RAII guard for making threads, which inherit the mask: handlers of the application must not run
// on threads that it does not know. The signals of libc's own (setuid() of all threads, for
// example) stay open.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace forebay::adapters
