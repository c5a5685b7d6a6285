// Captured fork, exec, posix_spawn, system, popen and wordexp: which descriptors children inherit,
// and the programs that they become.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/descriptors/offset_lock.hpp"
#include "pool/capture/files/draining.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/processes/search_path.hpp"
#include "pool/capture/processes/starting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace forebay::capture {

namespace {

// Files of the pool without close-on-exec leave it: the program that inherits them writes to them
// by calls that do not know the pool.
void leave_inherited() noexcept {
    const int before = errno;
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        if (descriptors.captured(fd) && (kernel::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) {
            leave_if_captured(fd, pool::ThroughReason::inherited);
        }
    }
    errno = before;
}

// Before a program is started from a file that may be in the pool: has it drained, because the
// kernel reads the file itself, and closed by the daemon, because execve fails with ETXTBSY while
// anybody has it open for writing.
void drain_program(int folder, const char* path, int flags) noexcept {
    struct stat found{};
    if (kernel::fstatat(folder, path, &found, flags) != 0 || !S_ISREG(found.st_mode)) {
        return;
    }
    if (may_be_known(folder, path, found)) {
        static_cast<void>(in_one_process([&]() noexcept {
            const bool gone =
                connection.reach() && connection.life() != DaemonConnection::Life::lives;
            return gone ? 0 : drain_and_close(found.st_dev, found.st_ino);
        }));
    }
}

void prepare(int folder, const char* path, int flags) noexcept {
    if (!capturing() || path == nullptr) {
        return;
    }
    const int before = errno;
    drain_program(folder, path, flags);
    leave_inherited();
    errno = before;
}

void prepare(const char* path) noexcept { prepare(AT_FDCWD, path, 0); }

// For execvp and posix_spawnp, which go on to the next directory of PATH if one program cannot be
// executed.
void prepare_named(const char* file) noexcept {
    if (!capturing() || file == nullptr || std::strchr(file, '/') != nullptr) {
        prepare(file);
        return;
    }
    const int before = errno;
    for_each_candidate(searched_folders(), file, [](const char* path) noexcept {
        drain_program(AT_FDCWD, path, 0);
        return false;
    });
    leave_inherited();
    errno = before;
}

// Number of arguments from `first` on, without the null pointer at their end.
std::size_t count_of(const char* first, va_list rest) noexcept {
    va_list counted;
    va_copy(counted, rest);
    std::size_t count = first == nullptr ? 0 : 1;
    while (count > 0 && va_arg(counted, const char*) != nullptr) {
        ++count;
    }
    va_end(counted);
    return count;
}

// Copies `first` and `count` pointers of `rest` (the last one is null). For execle, `rest` then
// stands at the environment.
void list(const char* first, va_list rest, char** to, std::size_t count) noexcept {
    to[0] = const_cast<char*>(first);
    for (std::size_t i = 1; i <= count; ++i) {
        to[i] = va_arg(rest, char*);
    }
}

// The memory comes from alloca: a forked child of a program with threads may not call malloc.
char** room_for(void* memory) noexcept { return static_cast<char**>(memory); }

// The shell that libc's system() and popen() start.
constexpr const char* shell_path = "/bin/sh";

int spawned(ProgramStart& starting, int error, pid_t child, pid_t* process) noexcept {
    if (error == 0) {
        starting.started(child);
        if (process != nullptr) {
            *process = child;
        }
    }
    return error;
}

}  // namespace

void before_fork() noexcept {
    const int before = errno;
    if (thread_calls.innermost != nullptr) {
        forks_inside.store(true, std::memory_order_relaxed);
    }
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        if (!descriptors.captured(fd)) {
            continue;
        }
        const HeldDescription held{fd};
        if (held) {
            OffsetLock::share_with_child();
            put_offset_into_kernel({*held, fd});
            connection.note_fork();
        }
    }
    errno = before;
}

namespace {

void forget_parent(DaemonConnection::DescriptorSharing sharing) noexcept {
    forks_of_memory.fetch_add(1, std::memory_order_relaxed);
    state.moving_offset.store(false, std::memory_order_relaxed);
    state.many_processes.store(false, std::memory_order_relaxed);
    state.limit_asked_ns.store(0, std::memory_order_relaxed);
    connection.forget_parent(sharing);
    // The calls that the child returns into drop their holds themselves. Holds of other threads are
    // never dropped then, which keeps files open for the child, and nothing else.
    if (thread_calls.innermost == nullptr) {
        state.mappings.forget();
        descriptors.recount();
    }
}

}  // namespace

void in_child() noexcept { forget_parent(DaemonConnection::DescriptorSharing::copied); }

void in_child_with_our_descriptors() noexcept {
    forget_parent(DaemonConnection::DescriptorSharing::shared);
}

namespace captured {

pid_t bare_fork() noexcept {
    if (!capturing()) {
        return real::bare_fork();
    }
    before_fork();
    const pid_t child = real::bare_fork();
    if (child == 0) {
        in_child();
    }
    return child;
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
    prepare(path);
    const ProgramStart starting{ProgramStart::As::itself, AT_FDCWD, path, environment};
    void* const room = __builtin_alloca(starting.room());
    return real::execve(path, arguments, starting.environment(room));
}

int execv(const char* path, char* const* arguments) noexcept {
    return execve(path, arguments, environ);
}

int execvp(const char* file, char* const* arguments) noexcept {
    return execvpe(file, arguments, environ);
}

int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
    prepare_named(file);
    const ProgramStart starting{ProgramStart::As::itself, file, environment};
    void* const room = __builtin_alloca(starting.room());
    return real::execvpe(file, arguments, starting.environment(room));
}

int execl(const char* path, const char* first, va_list rest) noexcept {
    const std::size_t count = count_of(first, rest);
    char** const arguments = room_for(__builtin_alloca((count + 1) * sizeof(char*)));
    list(first, rest, arguments, count);
    return execv(path, arguments);
}

int execlp(const char* file, const char* first, va_list rest) noexcept {
    const std::size_t count = count_of(first, rest);
    char** const arguments = room_for(__builtin_alloca((count + 1) * sizeof(char*)));
    list(first, rest, arguments, count);
    return execvp(file, arguments);
}

int execle(const char* path, const char* first, va_list rest) noexcept {
    const std::size_t count = count_of(first, rest);
    char** const arguments = room_for(__builtin_alloca((count + 1) * sizeof(char*)));
    list(first, rest, arguments, count);
    return execve(path, arguments, va_arg(rest, char* const*));
}

int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
    prepare(fd, "", AT_EMPTY_PATH);
    const ProgramStart starting{ProgramStart::As::itself, fd, environment};
    void* const room = __builtin_alloca(starting.room());
    return real::fexecve(fd, arguments, starting.environment(room));
}

int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
             int flags) noexcept {
    prepare(folder, path, flags & AT_EMPTY_PATH);
    const bool by_descriptor = (flags & AT_EMPTY_PATH) != 0 && path != nullptr && *path == '\0';
    const ProgramStart starting =
        by_descriptor ? ProgramStart{ProgramStart::As::itself, folder, environment}
                      : ProgramStart{ProgramStart::As::itself, folder, path, environment};
    void* const room = __builtin_alloca(starting.room());
    return real::execveat(folder, path, arguments, starting.environment(room), flags);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) noexcept {
    prepare(path);
    ProgramStart starting{ProgramStart::As::child, AT_FDCWD, path, environment};
    void* const room = __builtin_alloca(starting.room());
    pid_t child = 0;
    const int error =
        real::posix_spawn(&child, path, actions, attributes, arguments, starting.environment(room));
    return spawned(starting, error, child, process);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) noexcept {
    prepare_named(file);
    ProgramStart starting{ProgramStart::As::child, file, environment};
    void* const room = __builtin_alloca(starting.room());
    pid_t child = 0;
    const int error = real::posix_spawnp(&child, file, actions, attributes, arguments,
                                         starting.environment(room));
    return spawned(starting, error, child, process);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int fd,
                                     int other) noexcept {
    leave_if_captured(fd, pool::ThroughReason::inherited);
    return real::posix_spawn_file_actions_adddup2(actions, fd, other);
}

int system(const char* command) noexcept {
    if (capturing()) {
        leave_inherited();
    }
    const ProgramStart shell{ProgramStart::As::child, AT_FDCWD, shell_path, environ};
    return real::system(command);
}

FILE* popen(const char* command, const char* mode) noexcept {
    if (capturing()) {
        leave_inherited();
    }
    const ProgramStart shell{ProgramStart::As::child, AT_FDCWD, shell_path, environ};
    return real::popen(command, mode);
}

// libc runs commands in the words by a shell that it starts by internal calls.
int wordexp(const char* words, wordexp_t* to, int flags) noexcept {
    if (!capturing() || words == nullptr || std::strpbrk(words, "`(") == nullptr ||
        (flags & WRDE_NOCMD) != 0) {
        return real::wordexp(words, to, flags);
    }
    leave_inherited();
    const ProgramStart shell{ProgramStart::As::child, AT_FDCWD, shell_path, environ};
    return real::wordexp(words, to, flags);
}

}  // namespace captured

}  // namespace forebay::capture
