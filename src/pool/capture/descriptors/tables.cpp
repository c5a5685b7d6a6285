// Captured clone() and unshare(), which decide what parent and child share:
//
//  memory   descriptors   the child is
//  copied   copied        as forked
//  shared   shared        as a thread
//  shared   copied        a second table of descriptors: nothing is tracked
//  copied   shared        a second memory: nothing is tracked, by either
#include "pool/capture/descriptors/tables.hpp"

#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <sched.h>

namespace forebay::capture {

namespace {

// The start of a child. It lies on the parent's stack, which is copied into the child's memory.
struct ChildStart {
    CloneFunction* function;
    void* argument;
    bool shares_descriptors;
};

int begin_child(void* beginning) noexcept {
    const ChildStart own = *static_cast<const ChildStart*>(beginning);
    if (own.shares_descriptors) {
        in_child_with_our_descriptors();
    } else {
        in_child();
    }
    return own.function(own.argument);
}

}  // namespace

// /proc/self/task has a directory for each thread, and each counts as a link.
bool is_shared_table() noexcept {
    constexpr nlink_t alone = 3;  // the directory's own two links, and that of one thread
    struct stat found{};
    return state.many_processes.load(std::memory_order_acquire) ||
           kernel::stat("/proc/self/task", &found) != 0 || found.st_nlink > alone;
}

int stop_tracking(int fd) noexcept {
    const int error = leave_if_captured(fd, pool::ThroughReason::tables);
    if (error == 0 && descriptors.captured(fd)) {
        // Its hold is not dropped, so the daemon keeps the file open; see tables.hpp.
        static_cast<void>(descriptors.take(fd));
    }
    return error;
}

int stop_tracking() noexcept {
    state.many_tables.store(true, std::memory_order_seq_cst);
    int first = 0;
    for (int fd = 0; fd < descriptors.end(); ++fd) {
        const int error = stop_tracking(fd);
        first = first == 0 ? error : first;
    }
    return first;
}

int prepare_own_table() noexcept {
    if (!capturing()) {
        return 0;
    }
    const int before = errno;
    const int error = is_shared_table() ? stop_tracking() : 0;
    errno = before;
    return error;
}

namespace captured {

int clone(CloneFunction* begin, void* stack, int flags, void* argument, pid_t* parent,
          void* storage, pid_t* child) noexcept {
    const bool memory = (flags & CLONE_VM) != 0;
    const bool shares_descriptors = (flags & CLONE_FILES) != 0;
    const auto as_asked = [&]() noexcept {
        return real::clone(begin, stack, flags, argument, parent, storage, child);
    };
    if (!capturing() || begin == nullptr || stack == nullptr) {
        return as_asked();
    }
    if (memory && shares_descriptors) {
        if ((flags & CLONE_THREAD) == 0) {
            state.many_processes.store(true, std::memory_order_release);
        }
        return as_asked();
    }
    if (memory || shares_descriptors) {
        const int error = stop_tracking();
        if (error != 0) {
            return fail(error);
        }
    }
    if (memory) {
        return as_asked();
    }
    before_fork();
    ChildStart beginning{
        .function = begin, .argument = argument, .shares_descriptors = shares_descriptors};
    return real::clone(&begin_child, stack, flags, &beginning, parent, storage, child);
}

int unshare(int flags) noexcept {
    const int error = (flags & CLONE_FILES) != 0 ? prepare_own_table() : 0;
    return error != 0 ? fail(error) : real::unshare(flags);
}

}  // namespace captured

}  // namespace forebay::capture
