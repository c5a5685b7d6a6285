// Connecting, the exchange of questions and replies, and the descriptors of the connection. Nothing
// here allocates memory, and signals are blocked while a question is open, because a signal handler
// of the program could ask one itself.
#include "pool/capture/connection/connection.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/times.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_linux.hpp"
#include "pool/capture/connection/question_lock.hpp"
#include "pool/capture/connection/user_message.hpp"
#include "pool/capture/descriptors/own_descriptors.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"
#include "pool/client/shared_mapping.hpp"
#include "pool/client/trust.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <utility>

namespace forebay::capture {

namespace {

// Attempts to connect, with a nap of 10 ms between two of them: one minute in all. Another attempt
// follows if the daemon has its maximum number of clients and some of them have ended, or if the
// daemon closes connections for want of descriptors before it has replied.
constexpr int tries_max = 6000;

int moved_up(int fd) noexcept {
    const int high = duplicate_to_high_number(fd);
    if (high < 0) {
        return fd;
    }
    kernel::close(fd);
    return high;
}

}  // namespace

bool DaemonConnection::set_socket(const char* path, const char* daemon) noexcept {
    const std::size_t bytes = std::strlen(path) + 1;
    if (bytes > sizeof address_.sun_path) {
        return false;
    }
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, path, bytes);
    daemon_ = pool::daemon_of(daemon, path);
    process_ = kernel::getpid();
    mark_memory();
    return true;
}

void DaemonConnection::mark_memory() noexcept {
    const std::size_t page = kernel::page_bytes();
    if (mark_ == nullptr) {
        void* const at =
            kernel::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) {
            return;
        }
        if (kernel::madvise(at, page, MADV_WIPEONFORK) != 0) {
            kernel::munmap(at, page);
            return;
        }
        mark_ = static_cast<std::atomic<std::uint32_t>*>(at);
    }
    mark_->store(1, relaxed);
}

// Decided by the memory, not by the process number: a process that clone() made with the parent's
// memory and descriptors has another number, but shares this connection as a thread does.
bool DaemonConnection::is_ours() const noexcept {
    return mark_ != nullptr ? mark_->load(relaxed) != 0 : kernel::getpid() == process_;
}

bool DaemonConnection::reach() noexcept {
    if (reached()) {
        return true;
    }
    if (state_.load(std::memory_order_acquire) != State::none || !is_ours() || !capturing()) {
        return false;
    }
    const int before = errno;
    for (int tried = 1; !try_to_reach(tried); ++tried) {
        const std::atomic<std::uint32_t> nobody{0};
        kernel::futex_wait(nobody, 0, nap);
    }
    errno = before;
    return reached();
}

// One attempt to connect. Returns false if the daemon told this client to try again (EAGAIN),
// because it has to release other clients first.
bool DaemonConnection::try_to_reach(int tried) noexcept {
    const QuestionLock lock{question_lock_};
    if (state_.load(relaxed) != State::none || in_parents_call()) {
        return true;
    }
    pool::ReceivedReply greeting;
    const char* problem = connect_and_greet(greeting, tried == tries_max);
    State found = State::unreachable;
    const char* hint = "See with `forebay pool status` whether the daemon lives.";
    if (problem != nullptr && errno == EACCES) {
        hint = "Nothing was told to it. Use a daemon of your own.";
    }
    if (problem != nullptr && greeting.came) {
        hint = "What could be drained is; `forebay pool status` says the rest.";
    }
    if (problem == nullptr) {
        problem = map_greeted(greeting);
        found = may_map() && problem == nullptr ? State::reached : State::unmapped;
        hint = lacked_descriptors_
                   ? "Files that it opens leave the pool. Start the daemon with more "
                     "descriptors (`ulimit -n`)."
                   : "Files that it opens leave the pool. See whether its address space "
                     "is limited (`ulimit -v`).";
    }
    if (problem != nullptr) {
        found = state_without(found, {problem, hint}, tried < tries_max);
    }
    if (found == State::none) {
        return false;
    }
    if (keeps_parents_ && found != State::ended) {
        // No file counts as introduced because a call of the parent's was about to introduce it.
        generation_.fetch_add(1, relaxed);
    }
    state_.store(found, std::memory_order_release);
    return true;
}

// valgrind's leak check would search all memory that is mapped, which takes minutes.
bool DaemonConnection::may_map() const noexcept { return !state.under_valgrind && !keeps_parents_; }

const char* DaemonConnection::map_greeted(pool::ReceivedReply& greeting) noexcept {
    lacked_descriptors_ = greeting.reply.number == 0 && may_map();
    errno = lacked_descriptors_ ? EMFILE : errno;
    const char* const problem = lacked_descriptors_    ? "the daemon has no descriptors for its log"
                                : state.under_valgrind ? "valgrind would look through it"
                                : may_map()            ? map(greeting)
                                                       : nullptr;
    for (const int fd : greeting.descriptors) {
        pool::close_if_open(fd);
    }
    return problem;
}

DaemonConnection::State DaemonConnection::state_without(State found, const FailedAttempt& attempt,
                                                        bool may_try_again) noexcept {
    const int error = errno;
    unmap();
    disconnect(found == State::unmapped);
    if (found == State::unreachable && error == EAGAIN && may_try_again) {
        return State::none;
    }
    const pool::Directory* const last = keeps_parents_ ? directory_ : inherited_;
    if (found == State::unreachable && last != nullptr && pool::life_of(*last) == Life::ended) {
        return State::ended;  // the daemon has drained them: they are plain files now
    }
    if (found == State::unreachable && error == ENOENT) {
        tell_that_it_was_stopped();
    } else if (!state.under_valgrind) {
        std::array<char, 256> why;
        std::snprintf(why.data(), why.size(), "%s: %s, errno %d", address_.sun_path,
                      attempt.problem, error);
        report_problem("this program does without the pool", why.data(), attempt.hint);
    }
    return found;
}

bool DaemonConnection::retry_mapping() noexcept {
    if (!is_unmapped() || !is_ours()) {
        return false;
    }
    const QuestionLock lock{question_lock_};
    if (!is_unmapped() || !lacked_descriptors_) {
        return reached();
    }
    const int before = errno;
    protocol::ClientQuestion hello;
    hello.number = process_;
    hello.group = static_cast<std::uint64_t>(now_ns());
    pool::ReceivedReply greeting = exchange(hello, -1);
    const bool welcome = greeting.came && greeting.reply.error == 0 && greeting.reply.number != 0;
    lacked_descriptors_ = !welcome;
    const bool mapped = welcome && map(greeting) == nullptr;
    for (const int fd : greeting.descriptors) {
        pool::close_if_open(fd);
    }
    if (mapped) {
        state_.store(State::reached, std::memory_order_release);
    } else if (welcome) {
        unmap();
        disconnect(true);
    }
    errno = before;
    return mapped;
}

// A daemon removes its socket when it ends, while a shell that keeps the pool's variables goes on
// starting programs. Only the first of them reports the missing daemon: it creates a file beside
// the socket, which `forebay pool start` removes.
void DaemonConnection::tell_that_it_was_stopped() const noexcept {
    std::array<char, sizeof address_.sun_path + 8> mark;
    std::snprintf(mark.data(), mark.size(), "%s.told", address_.sun_path);
    constexpr mode_t own = 0600;
    const int made =
        kernel::open(mark.data(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, own);
    if (made >= 0) {
        kernel::close(made);
    } else if (errno == EEXIST) {
        return;
    }
    std::array<char, 256> why;
    std::snprintf(why.data(), why.size(),
                  "%s: no daemon is there; it was stopped, or never started", address_.sun_path);
    report_problem(
        "this program does without the pool", why.data(),
        "`eval \"$(forebay pool stop --unset)\"` takes its variables out of this shell.");
}

// Sets errno to EACCES if the directory or the listener is not to be trusted.
const char* DaemonConnection::connect_to_daemon(int socket) const noexcept {
    if (const char* const problem = pool::folder_problem(address_.sun_path)) {
        errno = EACCES;
        return problem;
    }
    if (kernel::connect(socket, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) !=
        0) {
        errno = errno == EACCES ? ECONNREFUSED : errno;
        return "nobody answers";
    }
    const char* const problem = pool::listener_problem(socket, daemon_);
    errno = problem != nullptr ? EACCES : errno;
    return problem;
}

// Returns null, or a description of the problem with errno set; EAGAIN asks for another attempt.
const char* DaemonConnection::connect_and_greet(pool::ReceivedReply& greeting,
                                                bool last_try) noexcept {
    const int made = kernel::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return "no socket can be made";
    }
    socket_.store(moved_up(made), relaxed);
    if (const char* const problem = connect_to_daemon(socket_.load(relaxed))) {
        return problem;
    }
    protocol::ClientQuestion hello;
    hello.number = process_;
    hello.group = static_cast<std::uint64_t>(now_ns());
    hello.flags = last_try ? protocol::last_try : 0;
    greeting = exchange(hello, -1);
    if (!greeting.came) {
        // The daemon had no descriptor left even for a reply, and is making room.
        errno = errno == ECONNRESET || errno == EPIPE ? EAGAIN : errno;
        return "the daemon does not answer";
    }
    if (greeting.reply.error != 0) {
        errno = greeting.reply.error;
        return "the daemon has no room for it";
    }
    return nullptr;
}

const char* DaemonConnection::map(pool::ReceivedReply& greeting) noexcept {
    auto* const directory = pool::map_whole(greeting.descriptors[0], {sizeof(pool::Directory)});
    if (directory == nullptr) {
        return "the directory cannot be mapped";
    }
    directory_ = reinterpret_cast<const pool::Directory*>(directory);
    if (directory_->header.format.load(std::memory_order_acquire) != pool::format) {
        return "the daemon is of another version";
    }
    std::byte* const log =
        pool::map_whole(greeting.descriptors[1], {pool::LogShape::bytes, PROT_READ | PROT_WRITE});
    if (log == nullptr) {
        return "the log cannot be mapped";
    }
    log_ = pool::Log{log};
    log_descriptor_.take(moved_up(greeting.descriptors[1]), pool::LogShape::bytes);
    greeting.descriptors[1] = -1;
    if (greeting.descriptors[2] < 0) {
        return "there is no bell";
    }
    bell_.store(moved_up(greeting.descriptors[2]), relaxed);
    greeting.descriptors[2] = -1;
    client_ = greeting.reply.client;
    log_writer_.emplace(*directory_, log_, client_, *this);
    // Without read-cache blocks, a read takes all that is not deposited from the file itself.
    clean_bytes_ = std::size_t{directory_->header.clean_blocks.load(relaxed)} * pool::block_bytes;
    clean_ = clean_bytes_ == 0 ? nullptr : pool::map_whole(greeting.descriptors[3], {clean_bytes_});
    reader_.emplace(
        *directory_, *this,
        pool::ReadAheadAccess{.hint_writer = &*log_writer_, .client = client_, .blocks = clean_});
    generation_.fetch_add(1, relaxed);
    pool::unmapped(std::exchange(inherited_, nullptr), sizeof(pool::Directory));
    return nullptr;
}

void DaemonConnection::disconnect(bool but_for_the_socket) noexcept {
    const int before = errno;
    if (!but_for_the_socket) {
        pool::close_if_open(socket_.exchange(-1, relaxed));
    }
    pool::close_if_open(bell_.exchange(-1, relaxed));
    log_descriptor_.close();
    errno = before;
}

// Unmaps the memory of this connection, but neither logs of other clients nor the parent's
// directory.
void DaemonConnection::unmap() noexcept {
    if (keeps_parents_) {
        return;
    }
    pool::unmapped(directory_, sizeof(pool::Directory));
    pool::unmapped(log_.mapped() ? &log_.header() : nullptr, pool::LogShape::bytes);
    pool::unmapped(clean_, clean_bytes_);
    directory_ = nullptr;
    log_ = pool::Log{};
    clean_ = nullptr;
}

// Private memory of this size counts against limits (RLIMIT_DATA, strict overcommit), that of a
// memfd does not.
void DaemonConnection::blank_log() noexcept {
    constexpr std::size_t bytes = pool::LogShape::bytes;
    constexpr int access = PROT_READ | PROT_WRITE;
    const int fd = kernel::limit_of(RLIMIT_FSIZE) >= bytes
                       ? kernel::memfd_create("forebay-no-log", MFD_CLOEXEC)
                       : -1;
    const bool made = fd >= 0 && kernel::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
    const int flags = MAP_FIXED | MAP_NORESERVE | (made ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    void* const at = kernel::mmap(log_.base(), bytes, access, flags, made ? fd : -1, 0);
    pool::close_if_open(fd);
    kernel::madvise(log_.base(), bytes, MADV_DONTDUMP);
    if (at == MAP_FAILED) {
        // The call ends this child by SIGSEGV then, rather than write to its parent's log.
        kernel::munmap(log_.base(), bytes);
    }
}

void DaemonConnection::forget_memory() noexcept {
    if (directory_ != nullptr) {
        pool::unmapped(std::exchange(inherited_, std::exchange(directory_, nullptr)),
                       sizeof(pool::Directory));
    }
    unmap();
    client_logs_.forget();
    log_writer_.reset();
    reader_.reset();
}

void DaemonConnection::drop_parents_memory() noexcept {
    const int before = errno;
    const QuestionLock lock{question_lock_};
    thread_calls.parents_are_open = false;
    keeps_parents_ = false;
    forget_memory();
    pool::close_if_open(bell_.exchange(-1, relaxed));
    log_descriptor_.drop_unclosed();  // writes of the parent's calls, which were not counted here
    errno = before;
}

void DaemonConnection::forget_parent(DescriptorSharing sharing) noexcept {
    const int before = errno;
    const bool over = life() == Life::ended;
    keeps_parents_ = thread_calls.innermost != nullptr;
    thread_calls.parents_are_open = keeps_parents_;
    if (keeps_parents_ && sharing == DescriptorSharing::copied) {
        // The bell stays open: a call that was about to ring it would write to another file.
        pool::close_if_open(socket_.exchange(-1, relaxed));
        log_descriptor_.close();
    } else if (sharing == DescriptorSharing::copied) {
        disconnect();
    } else {
        socket_.store(-1, relaxed);
        bell_.store(-1, relaxed);
        log_descriptor_.drop_unclosed();
    }
    if (!keeps_parents_) {
        forget_memory();
    } else if (log_.mapped()) {
        blank_log();
    }
    lent_logs_.forget();
    question_lock_.store(0, relaxed);
    generation_.fetch_add(1, relaxed);
    process_ = kernel::getpid();
    mark_memory();
    state_.store(over ? State::ended : State::none, std::memory_order_release);
    errno = before;
}

pool::ReceivedReply DaemonConnection::exchange(const protocol::ClientQuestion& question,
                                               int descriptor) noexcept {
    return pool::exchange(socket_.load(relaxed), question, descriptor, &yielding_);
}

std::optional<protocol::DaemonReply> DaemonConnection::ask(const protocol::ClientQuestion& question,
                                                           int descriptor) noexcept {
    if ((!reached() && !is_unmapped()) || !is_ours()) {
        return std::nullopt;
    }
    const int before = errno;
    std::optional<protocol::DaemonReply> reply;
    {
        const QuestionLock lock{question_lock_};
        const pool::ReceivedReply received =
            in_parents_call() ? pool::ReceivedReply{} : exchange(question, descriptor);
        for (const int fd : received.descriptors) {
            pool::close_if_open(fd);
        }
        if (received.came) {
            reply.emplace(received.reply);
        }
    }
    if (!reply && reached() && life() == Life::dead) {
        report_daemon_death();
    }
    errno = before;
    return reply;
}

void DaemonConnection::report_daemon_death() noexcept {
    if (!reached()) {
        return;  // a child that was forked in the middle of its parent's call has no daemon yet
    }
    if (!told_.exchange(true, relaxed)) {
        const bool dead = life() == Life::dead;
        report_problem(
            "files of the pool fail from now on",
            dead ? "the daemon of this node has died, with what was not drained yet"
                 : "the daemon does not listen to this process any more",
            "Look at its messages, and run the program again from its last complete output.");
    }
}

bool DaemonConnection::move_from(int fd) noexcept {
    const QuestionLock lock{question_lock_};
    if (log_descriptor_.fd() == fd) {
        log_descriptor_.yield_number();
    }
    for (std::atomic<int>* one : {&socket_, &bell_}) {
        if (one->load(relaxed) == fd) {
            const int other = duplicate_to_high_number(fd);
            if (other < 0) {
                return false;
            }
            one->store(other, relaxed);
        }
    }
    return true;
}

void DaemonConnection::move_beyond_limit() noexcept {
    const QuestionLock lock{question_lock_};
    for (std::atomic<int>* one : {&socket_, &bell_}) {
        const int fd = one->load(relaxed);
        const int other = fd < 0 ? -1 : duplicate_above_limit(fd);
        if (other >= 0) {
            one->store(other, relaxed);
            kernel::close(fd);
        }
    }
    log_descriptor_.move_to_duplicate(&duplicate_above_limit);
}

DaemonConnection::Life DaemonConnection::life() const noexcept {
    const State now = state_.load(std::memory_order_acquire);
    if (now != State::reached) {
        return now == State::ended ? Life::ended : Life::dead;
    }
    return pool::life_of(*directory_);
}

std::int64_t DaemonConnection::now_ns() const noexcept { return time_ns_of(CLOCK_MONOTONIC); }

void DaemonConnection::kick() noexcept {
    const int before = errno;
    const std::uint64_t one = 1;
    kernel::write(bell_.load(relaxed), &one, sizeof one);
    errno = before;
}

void DaemonConnection::wait(const pool::Word& word, std::uint32_t seen) noexcept {
    const int before = errno;
    kernel::futex_wait(word, seen, nap);
    errno = before;
}

void DaemonConnection::prepare(std::byte* begin, std::size_t bytes) noexcept {
    const int before = errno;
    // The daemon has allocated these pages, but they are not mapped here yet: one call saves a page
    // fault for each of them.
    kernel::madvise(begin, bytes, kernel::populate_write);
    errno = before;
}

bool DaemonConnection::fill(std::byte* to, std::span<const std::byte> bytes) noexcept {
    return log_descriptor_.write(static_cast<std::size_t>(to - log_.base()), bytes);
}

}  // namespace forebay::capture
