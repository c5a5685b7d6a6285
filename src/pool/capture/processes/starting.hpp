// Guards the start of a program (exec, posix_spawn, system, popen): examines it beforehand, and if
// its calls will not be captured, asks the daemon to keep the pool empty while it runs, because
// such a program sees the file system only. The daemon's side: pool/daemon/requests/uncaptured.hpp.
#pragma once

#include "pool/capture/processes/child_environment.hpp"
#include "pool/capture/processes/program_file.hpp"

#include <sys/types.h>

namespace forebay::capture {

// Opens a second connection to the daemon without close-on-exec, so that the programs that are
// started from now on inherit it: it stays open as long as one of them lives. Returns -1 if the
// daemon cannot be reached.
[[nodiscard]] int connect_for_program() noexcept;
struct UncapturedProgram {
    const char* path;
    const char* why;  // why its calls are not captured
};
// Asks over `socket` to empty the pool, and returns when it is empty; it stays so while any process
// has the connection open. With `itself`, also while the calling process lives, since the program
// may close what it inherits.
void ask_for_room(int socket, bool itself, const UncapturedProgram& program) noexcept;

// For the start of a process, which may be the first one that is captured: its parent, a shell that
// had no pool yet, has told nobody. If it starts programs in containers, the daemon keeps the pool
// empty until it and they have ended.
void keep_the_pool_empty_for_a_container() noexcept;

// Undoes ask_for_room() with `itself`, and closes the socket.
void give_room_back(int socket) noexcept;

// RAII guard around the call that starts a program. Its destructor runs after that call has failed
// (exec) or has returned (spawn), and closes this process' end of the connection.
class ProgramStart {
public:
    enum class As {
        itself,  // this process becomes the program
        child,
    };

    // The program at `path`, relative to `folder` (as in openat), with its environment. Examines
    // nothing if this process has no pool.
    ProgramStart(As as, int folder, const char* path, char* const* environment) noexcept;
    // The same, by name as in execvp: without a slash, `file` is looked up in PATH.
    ProgramStart(As as, const char* file, char* const* environment) noexcept;
    // The same, for the file open as `fd`.
    ProgramStart(As as, int fd, char* const* environment) noexcept;
    ProgramStart(const ProgramStart&) = delete;
    ProgramStart& operator=(const ProgramStart&) = delete;
    ~ProgramStart();

    // The environment for the call; `room` points to room() bytes, which must live as long as it.
    [[nodiscard]] std::size_t room() const noexcept {
        return changes_.any() ? room_for(environment_) : 0;
    }
    [[nodiscard]] char* const* environment(void* room) const noexcept {
        return changes_.any() ? changed(environment_, changes_, room) : environment_;
    }
    // Tells the daemon which process the program runs in. Not needed for As::itself.
    void started(pid_t child) noexcept;

private:
    // Examine the file, found by path or in the directories of PATH.
    void look(int folder, const char* path) noexcept;
    void look_in(const char* folders, const char* file) noexcept;
    // Decides whether the program is captured, and which changes its environment needs.
    void decide(ProgramFile file, const char* path) noexcept;
    // Connects for the program, and has the daemon empty the pool.
    void request_room(const char* path, const char* why) noexcept;

    As as_;
    char* const* environment_;
    EnvironmentChanges changes_;
    bool shell_takes_it_ = false;  // execvp runs a file that the kernel does not understand by sh
    int socket_ = -1;              // inherited by the program; -1: the program is captured
};

}  // namespace forebay::capture
