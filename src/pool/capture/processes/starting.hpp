// A program that is about to be started: looked at, and where nobody will capture its calls, the
// daemon is asked to keep the pool empty until it has ended. See
// pool/daemon/requests/uncaptured.hpp.
#pragma once

#include "pool/capture/processes/child_environment.hpp"
#include "pool/capture/processes/program_file.hpp"

#include <sys/types.h>

namespace forebay::capture {

// A connection to the daemon, which is inherited by whatever is started from now on. -1: it is not
// there.
[[nodiscard]] int connect_for_program() noexcept;
struct UncapturedProgram {
    const char* path;
    const char* why;  // nobody captures it
};
// Returns when nothing is in the pool any more, as long as somebody has this connection. `itself`:
// or this process lives.
void ask_for_room(int socket, bool itself, const UncapturedProgram& program) noexcept;

// While it lives, the program is being started; it is over where that has failed.
class ProgramStart {
public:
    enum class As {
        itself,  // this process becomes the program
        child,
    };

    // The program, relative to `folder`; and what it is to be started with. Nothing is looked at
    // where there is no pool.
    ProgramStart(As as, int folder, const char* path, char* const* environment) noexcept;
    // The same; found by its name alone as execvp does, in the folders of PATH.
    ProgramStart(As as, const char* file, char* const* environment) noexcept;
    // By a descriptor.
    ProgramStart(As as, int fd, char* const* environment) noexcept;
    ProgramStart(const ProgramStart&) = delete;
    ProgramStart& operator=(const ProgramStart&) = delete;
    ~ProgramStart();

    // The environment to start it with; `room` has as many bytes as room() says.
    [[nodiscard]] std::size_t room() const noexcept {
        return changes_.any() ? room_for(environment_) : 0;
    }
    [[nodiscard]] char* const* environment(void* room) const noexcept {
        return changes_.any() ? changed(environment_, changes_, room) : environment_;
    }
    // It was started, as this child.
    void started(pid_t child) noexcept;

private:
    void look(int folder, const char* path) noexcept;
    void look_in(const char* folders, const char* file) noexcept;
    void decide(ProgramFile file, const char* path) noexcept;
    void request_room(const char* path, const char* why) noexcept;

    As as_;
    char* const* environment_;
    EnvironmentChanges changes_;
    bool shell_takes_it_ = false;  // what the kernel does not understand: execvp has it run by sh
    int socket_ = -1;              // inherited by the program; -1: it is captured
};

}  // namespace forebay::capture
