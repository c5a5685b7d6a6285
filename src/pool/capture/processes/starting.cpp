// Allocates nothing: forked children of programs with threads run this, too.
#include "pool/capture/processes/starting.hpp"

#include "foundation/kernel/calls.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/capture/processes/program_file.hpp"
#include "pool/capture/processes/search_path.hpp"
#include "pool/protocol/messages.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>

namespace forebay::capture {

namespace {

// Numbers that programs rarely use; the first one that the descriptor limit allows is taken.
constexpr std::array<long, 3> inherited_numbers{512, 100, 3};

std::string_view last_name_of(const char* path) noexcept {
    const char* const slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

// Programs that start others in another root directory or mount namespace, where neither our
// library nor the daemon's socket may exist.
constexpr std::array<std::string_view, 11> container_programs{
    "apptainer", "bwrap", "ch-run",  "docker",      "enroot", "nsenter",
    "podman",    "sarus", "shifter", "singularity", "unshare"};
constexpr const char* why_container = "what it starts may have other file systems";

bool is_container_program(const char* path) noexcept {
    for (const std::string_view one : container_programs) {
        if (last_name_of(path) == one) {
            return true;
        }
    }
    return false;
}

// The daemon is ours, and touches no file but those whose descriptors it was sent.
bool is_harmless(const char* path) noexcept { return last_name_of(path) == "forebayd"; }

bool send_about(int socket, const protocol::ClientQuestion& question) noexcept {
    iovec bytes{const_cast<protocol::ClientQuestion*>(&question), sizeof question};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    int sent = -1;
    do {
        sent = static_cast<int>(kernel::sendmsg(socket, &message, MSG_NOSIGNAL));
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<int>(sizeof question);
}

// Waits until a reply comes or the connection ends; its contents do not matter.
void await_reply(int socket) noexcept {
    protocol::DaemonReply reply;
    iovec bytes{&reply, sizeof reply};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    int got = -1;
    do {
        got = static_cast<int>(kernel::recvmsg(socket, &message, 0));
    } while (got < 0 && errno == EINTR);
}

protocol::ClientQuestion about_program() noexcept {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::uncaptured;
    question.inode = static_cast<std::uint64_t>(kernel::getpid());
    return question;
}

}  // namespace

int connect_for_program() noexcept {
    const int made = kernel::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return -1;
    }
    int moved = -1;
    if (connection.connect_to_daemon(made) == nullptr) {
        for (const long number : inherited_numbers) {
            moved = moved < 0 ? kernel::fcntl(made, F_DUPFD, number) : moved;
        }
    }
    kernel::close(made);
    return moved;
}

void ask_for_room(int socket, bool itself, const UncapturedProgram& program) noexcept {
    protocol::ClientQuestion question = about_program();
    question.flags = itself ? protocol::itself : 0;
    std::snprintf(question.path.data(), question.path.size(), "%.100s (%s)", program.path,
                  program.why);
    if (send_about(socket, question)) {
        await_reply(socket);
    }
}

void keep_the_pool_empty_for_a_container() noexcept {
    const auto* const path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    if (state.containers_join || path == nullptr || !is_container_program(path)) {
        return;
    }
    const int socket = connect_for_program();  // left open on purpose: what it starts inherits it
    if (socket >= 0) {
        ask_for_room(socket, true, {path, why_container});
    }
}

void give_room_back(int socket) noexcept {
    protocol::ClientQuestion question = about_program();
    question.flags = protocol::not_started;
    static_cast<void>(send_about(socket, question));
    kernel::close(socket);
}

ProgramStart::ProgramStart(As as, int folder, const char* path, char* const* environment) noexcept
    : as_{as}, environment_{environment} {
    if (capturing() && path != nullptr) {
        look(folder, path);
    }
}

ProgramStart::ProgramStart(As as, const char* file, char* const* environment) noexcept
    : as_{as}, environment_{environment} {
    if (!capturing() || file == nullptr) {
        return;
    }
    const int before = errno;
    shell_takes_it_ = true;
    if (std::strchr(file, '/') != nullptr) {
        if (kernel::access(file, X_OK) == 0) {
            look(AT_FDCWD, file);
        }
    } else {
        look_in(searched_folders(), file);
    }
    errno = before;
}

ProgramStart::ProgramStart(As as, int fd, char* const* environment) noexcept
    : as_{as}, environment_{environment} {
    if (!capturing()) {
        return;
    }
    const int before = errno;
    // `fd` may be an O_PATH descriptor, which cannot be read: open the file anew by /proc.
    std::array<char, 32> name;
    std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd);
    decide(look_at_program(AT_FDCWD, name.data()), name.data());
    errno = before;
}

ProgramStart::~ProgramStart() {
    if (socket_ < 0) {
        return;
    }
    const int before = errno;
    if (as_ == As::itself) {
        give_room_back(socket_);
    } else {
        kernel::close(socket_);
    }
    errno = before;
}

void ProgramStart::look(int folder, const char* path) noexcept {
    const int before = errno;
    decide(look_at_program(folder, path), path);
    errno = before;
}

// As execvp does: the first directory in which the file may be executed is the one.
void ProgramStart::look_in(const char* folders, const char* file) noexcept {
    const int before = errno;
    for_each_candidate(folders, file, [&](const char* path) noexcept {
        // A directory may be "executed", too, but not by execve, which then tries the next one.
        struct stat found{};
        if (kernel::stat(path, &found) != 0 || !S_ISREG(found.st_mode) ||
            kernel::access(path, X_OK) != 0) {
            return false;
        }
        decide(look_at_program(AT_FDCWD, path), path);
        return true;
    });
    errno = before;
}

void ProgramStart::decide(ProgramFile file, const char* path) noexcept {
    const char* why = why_uncaptured(file.kind);
    // valgrind is linked statically, but loads what LD_PRELOAD names into the program that it runs.
    if (file.kind == ProgramKind::linked_static &&
        variable_in(environment_, "VALGRIND_LAUNCHER") != nullptr) {
        why = nullptr;
    }
    changes_.without_library = file.kind == ProgramKind::other_libc;
    changes_.any_order = file.address_sanitizer;
    if (why == nullptr && (file.kind != ProgramKind::not_understood || shell_takes_it_)) {
        why = why_uncaptured(environment_,
                             {.socket = connection.address().sun_path, .paths = state.paths});
    }
    if (why == nullptr && !state.containers_join && is_container_program(path)) {
        why = why_container;
    }
    if (why != nullptr && !is_harmless(path)) {
        request_room(path, why);
    }
}

void ProgramStart::request_room(const char* path, const char* why) noexcept {
    socket_ = connect_for_program();
    if (socket_ >= 0) {
        ask_for_room(socket_, as_ == As::itself, {path, why});
    }
}

void ProgramStart::started(pid_t child) noexcept {
    if (socket_ < 0) {
        return;
    }
    const int before = errno;
    protocol::ClientQuestion question = about_program();
    question.number = child;
    if (send_about(socket_, question)) {
        await_reply(socket_);
    }
    errno = before;
}

}  // namespace forebay::capture
