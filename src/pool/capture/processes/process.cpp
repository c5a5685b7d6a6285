// Definitions of the process-wide state, and the library's start: finds libc's functions, reads the
// environment, registers fork handlers.
#include "pool/capture/processes/process.hpp"

#include "capture/real.hpp"
#include "foundation/base/switch_words.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/connection/user_message.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/starting.hpp"
#include "pool/capture/symbols/symbols.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gnu/libc-version.h>

namespace forebay::capture {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a process has no other place
// GCC lays these out from the last one to the first. So the large tables, most pages of which are
// never touched, come after the objects that each program touches at its start.
constinit DescriptorTable descriptors;
constinit NextSymbols symbols;
constinit ObjectSymbols own_symbols;
constinit ObjectSymbols libc_symbols;
constinit CaptureState state;
constinit DaemonConnection connection;
constinit RealAddresses real_addresses{};
// Initialised statically (initial-exec TLS), so that the first use in a thread allocates nothing.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCalls thread_calls;
constinit std::atomic<std::uint32_t> forks_of_memory{0};
constinit std::atomic<bool> forks_inside{false};
constinit RewrittenFiles rewritten_files;

namespace {

// As thread_calls.
[[gnu::tls_model("initial-exec")]] constinit thread_local FileGrouping own_grouping;
[[gnu::tls_model("initial-exec")]] constinit thread_local TreeWalk walk_of_thread;

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

FileGrouping& grouping() noexcept { return own_grouping; }
TreeWalk& own_walk() noexcept { return walk_of_thread; }

void leave_parents_calls() noexcept { connection.drop_parents_memory(); }

}  // namespace forebay::capture

extern "C" {
// Read by shared/vfork.S. A child of vfork shares this state with its parent, so vfork becomes fork
// if there is a pool.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): assembly has no other way
constinit unsigned forebay_vfork_is_fork = 0;
constinit void* forebay_real_vfork = nullptr;
// Read by shared/system_call.S and shared/loader.S. The array is for dlsym, dlvsym, dlopen and
// dlmopen, in this order; null until they are found (symbols/loader_symbols.cpp).
constinit unsigned forebay_captures_calls = 0;
constinit void* forebay_real_syscall = nullptr;
constinit void* forebay_real_loader[4] = {};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
}

namespace forebay::capture {

namespace {

// Called in place of a function that this libc does not have.
long missing() noexcept {
    errno = ENOSYS;
    return -1;
}

// valgrind preloads a library of its own.
bool is_under_valgrind() noexcept {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

void take_on_standard_streams() noexcept {
    for (int fd = 0; fd < standard_streams; ++fd) {
        struct stat found{};
        if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
            continue;
        }
        const int flags = kernel::fcntl(fd, F_GETFL);
        static_cast<void>(take_on(
            fd, {.flags = flags, .through = pool::ThroughReason::inherited, .fresh = false}));
    }
}

// A signal handler may not call dlsym, so all functions that dlsym has to find are found at the
// start.
void ask_the_loader() noexcept {
    for (std::size_t number = 0; number < function_count; ++number) {
        if (!function_is_late[number] && symbols.find(function_names[number]) == nullptr) {
            find_real(number);
        }
    }
}

[[gnu::constructor]] void begin() noexcept {
    const int before = errno;
    const bool learnt = symbols.learn();
    if (!learnt) {
        ask_the_loader();
    }
    forebay_real_vfork = real_function("vfork");
    forebay_real_syscall = real_function("syscall");
    const char* const socket = std::getenv("FOREBAY_POOL_SOCKET");
    const char* const paths = std::getenv("FOREBAY_POOL_PATHS");
    if (socket == nullptr || *socket == '\0' || paths == nullptr ||
        switches_off(std::getenv("FOREBAY_ENABLED"))) {
        errno = before;
        return;
    }
    if (state.paths.set(paths) > 0) {
        report_problem("not all pool paths are used", "there are too many, or one is not absolute",
                       "Name fewer folders in FOREBAY_POOL_PATHS.");
    }
    if (!connection.set_socket(socket, std::getenv("FOREBAY_POOL_DAEMON"))) {
        report_problem("this program does without the pool", "its socket's name is too long",
                       "Start the daemon in a folder with a shorter name.");
    } else if (!state.paths.none()) {
        ::pthread_atfork(&before_fork, nullptr, &in_child);
        forebay_vfork_is_fork = 1;
        state.other_names.map(socket);
        state.under_valgrind = is_under_valgrind();
        state.containers_join = switches_on(std::getenv("FOREBAY_POOL_CONTAINERS_JOIN"));
        if (learnt) {  // otherwise all of them are known already
            ask_the_loader();
        }
        own_symbols.learn(&forebay_vfork_is_fork);
        libc_symbols.learn(reinterpret_cast<const void*>(&::gnu_get_libc_version));
        state.captures.store(true, std::memory_order_release);
        forebay_captures_calls = 1;
        take_on_standard_streams();
        keep_the_pool_empty_for_a_container();
    }
    errno = before;
}

}  // namespace

void* real_function(const char* name) noexcept {
    void* const found = symbols.find(name);
    return found != nullptr ? found : ::dlsym(RTLD_NEXT, name);
}

void* ours_for(void* found, const char* name) noexcept {
    void* const ours = found == nullptr ? nullptr : own_symbols.find(name);
    const bool is_libcs = ours != nullptr && libc_symbols.find(name) == found;
    return is_libcs && real_function(name) == found ? ours : found;
}

bool is_captured(const char* name) noexcept { return own_symbols.find(name) != nullptr; }

void* find_real(std::size_t number) noexcept {
    void* found = real_function(function_names[number]);
    found = found != nullptr ? found : by_system_call(number);
    found = found != nullptr ? found : reinterpret_cast<void*>(&missing);
    real_addresses[number].store(found, std::memory_order_relaxed);
    return found;
}

}  // namespace forebay::capture
