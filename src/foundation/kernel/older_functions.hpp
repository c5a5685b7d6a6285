// Functions that glibc 2.28 lacks, but that objects compiled with a newer libc's headers call: our
// own objects, those of libstdc++.a and of the compiler's unwinder. older_libc/ gives these
// functions the names of libc's in everything that users get, so that no newer version of libc is
// needed.
#pragma once

#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

extern "C" {

// As stat(2), lstat(2), fstat(2), fstatat(2), mknod(2) and mknodat(2). Before glibc 2.33 these were
// inline functions in libc's headers.
int forebay_stat(const char* path, struct stat* out) noexcept;
int forebay_lstat(const char* path, struct stat* out) noexcept;
int forebay_fstat(int fd, struct stat* out) noexcept;
int forebay_fstatat(int folder, const char* path, struct stat* out, int flags) noexcept;
int forebay_mknod(const char* path, mode_t mode, dev_t device) noexcept;
int forebay_mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept;

// As arc4random(3) of glibc 2.36.
std::uint32_t forebay_arc4random() noexcept;

// As pthread_cond_clockwait(3) of glibc 2.30: waits until `until` on `clock`, with the errors of
// pthread_cond_timedwait(3). An older libc waits by the calendar only: see wait_by_calendar().
int forebay_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until);

// The layout of glibc's struct dl_find_object.
struct ForebayFoundObject {
    unsigned long long flags;
    void* begin;
    void* end;
    void* link_map;
    void* frames;  // the object's PT_GNU_EH_FRAME
    unsigned long long reserved[7];
};

// As _dl_find_object(3) of glibc 2.35, which the unwinder asks: the loaded object that has
// `address`, without its link map. -1 where there is none, or where it has no frames.
int forebay_find_object(void* address, ForebayFoundObject* out) noexcept;
}

namespace forebay::kernel {

// Waits until `until` on `clock`, by the calendar's clock. If that is put forward meanwhile, the
// wait ends before its time with 0, as if it had been woken; if it is put back, the wait takes so
// much longer, unless it is woken. C++ libraries before GCC 10 do the same.
int wait_by_calendar(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                     const timespec& until);

}  // namespace forebay::kernel
