// Between fork() and exec() only system calls are made: slurmstepd has threads.
#include "pool/slurm/pool_keeper.hpp"

#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/newer_calls.hpp"
#include "foundation/kernel/system_call.hpp"
#include "pool/slurm/step_options.hpp"
#include "pool/slurm/task_cgroups.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay::slurm {

namespace {

// Starts `forebay run`, and outlives it and all signals but SIGKILL: they close the pool, which is
// drained then and takes nothing more. A shell gives what it starts in the background no standard
// input, unless it is told to.
constexpr const char* keeper_text = R"(
close_pool() { if [ -n "$run" ]; then kill -s USR1 "$run" 2> /dev/null; fi; }
run=
trap close_pool TERM INT HUP QUIT USR1
trap : USR2
exec 3<&0
"$@" <&3 3<&- &
run=$!
exec 3<&- < /dev/null
while
    wait "$run"
    status=$?
    kill -0 "$run" 2> /dev/null
do :; done
wait "$run" 2> /dev/null
again=$?
if [ "$again" != 127 ]; then status=$again; fi
printf 'status %s\0' "$status"
)";

// The program of `forebay run`: tells its environment, and waits for the end of its input. It is in
// a variable, so that a record's command has the program of the tasks and not this.
constexpr const char* waiting_command = R"(eval "$SPANK_FOREBAY_WAITS")";
constexpr const char* waiting_text = R"(unset SPANK_FOREBAY_WAITS
trap '' TERM INT HUP QUIT USR1 USR2
env -0
printf 'processes %s %s\0' "$PPID" "$$"
read -r _
exit 0
)";

constexpr int start_ms_max = 600'000;  // as `forebay run`: a journal may have to be replayed
constexpr int look_ms = 1'000;

struct PipePair {
    OwnFd reading;
    OwnFd writing;
};

Result<PipePair> make_pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failure(system_error(errno, "make a pipe"));
    }
    return PipePair{OwnFd{ends[0]}, OwnFd{ends[1]}};
}

std::vector<char*> words_of(const std::vector<std::string>& texts) {
    std::vector<char*> words;
    for (const std::string& one : texts) {
        words.push_back(const_cast<char*>(one.c_str()));
    }
    words.push_back(nullptr);
    return words;
}

// slurmstepd is exempt from the kernel's OOM killer, and what it starts would be.
void be_killable() noexcept {
    const int file = kernel::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        kernel::write(file, "0", 1);
        kernel::close(file);
    }
}

// slurmstepd blocks and ignores signals.
void hear_all_signals() noexcept {
    for (int number = 1; number < NSIG; ++number) {
        static_cast<void>(::signal(number, SIG_DFL));
    }
    kernel::give_signals(0);
}

struct ChildFiles {
    int input;
    int output;
    int errors;
};

[[noreturn]] void run_child(const UserIdentity& identity, const ChildFiles& files,
                            char* const* words, char* const* environment) noexcept {
    constexpr int no_identity = 125;
    constexpr int not_started = 126;
    be_killable();
    if (become_for_good(identity) != 0) {
        ::_exit(no_identity);
    }
    // All three are above 2: slurmstepd has these open.
    kernel::system_call(SYS_dup3, files.input, STDIN_FILENO, 0);
    kernel::system_call(SYS_dup3, files.output, STDOUT_FILENO, 0);
    kernel::system_call(SYS_dup3, files.errors, STDERR_FILENO, 0);
    kernel::close_range(STDERR_FILENO + 1, ~0U);
    hear_all_signals();
    kernel::system_call(SYS_execve, kernel::word_of(words[0]), kernel::word_of(words),
                        kernel::word_of(environment));
    ::_exit(not_started);
}

std::vector<std::string> keeper_words(const KeeperPlan& plan) {
    std::vector<std::string> words{"/bin/sh", "-c", keeper_text, "forebay-keeper"};
    words.insert(words.end(), plan.command.begin(), plan.command.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", waiting_command});
    words.insert(words.end(), plan.program.begin(), plan.program.end());
    return words;
}

// The numbers in "name number number".
std::vector<int> numbers_in(std::string_view word) {
    std::vector<int> numbers;
    while (true) {
        const std::size_t blank = word.find(' ');
        if (blank == std::string_view::npos) {
            return numbers;
        }
        word.remove_prefix(blank + 1);
        int number = 0;
        if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc{}) {
            numbers.push_back(number);
        }
    }
}

// Whether the process runs: one that is dead and that nobody has waited for has no command line.
bool is_running(pid_t process) {
    return process > 0 &&
           !kernel::contents(fmt::format("/proc/{}/cmdline", process)).value_or("").empty();
}

// Waits for the end of a daemon: whoever kills the keeper kills the daemon, too, but perhaps a
// moment later.
void await_death(pid_t process) {
    constexpr int nap_ms = 10;
    constexpr int death_ms_max = 10'000;
    for (int waited_ms = 0; waited_ms < death_ms_max && is_running(process); waited_ms += nap_ms) {
        ::poll(nullptr, 0, nap_ms);
    }
}

// The daemon's process in FOREBAY_POOL_DAEMON, "process:socket"; 0 if it is not there.
pid_t daemon_in(const std::vector<std::string>& variables) {
    const std::string text = value_in(variables, "FOREBAY_POOL_DAEMON").value_or("");
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

PoolKeeper::PoolKeeper(OwnFd input, OwnFd output, OwnFd messages, pid_t keeper)
    : input_(std::move(input)),
      output_(std::move(output)),
      messages_(std::move(messages)),
      processes_{keeper} {}

Result<PoolKeeper> PoolKeeper::start(const KeeperPlan& plan) {
    auto input = make_pipe();
    auto output = make_pipe();
    OwnFd messages{kernel::memfd_create("forebay-messages", MFD_CLOEXEC)};
    if (!input || !output || !messages.valid()) {
        return failure(system_error(errno, "start the pool of this step"));
    }
    // Several processes write to it.
    kernel::fcntl(messages.get(), F_SETFL, O_APPEND);
    const std::vector<std::string> texts = keeper_words(plan);
    const std::vector<char*> words = words_of(texts);
    std::vector<std::string> variables = plan.environment;
    variables.push_back(fmt::format("SPANK_FOREBAY_WAITS={}", waiting_text));
    const std::vector<char*> environment = words_of(variables);
    const ChildFiles files{input->reading.get(), output->writing.get(), messages.get()};
    const pid_t child = ::fork();
    if (child < 0) {
        return failure(system_error(errno, "start a process for the pool of this step"));
    }
    if (child == 0) {
        run_child(plan.identity, files, words.data(), environment.data());
    }
    input->reading = OwnFd{};
    output->writing = OwnFd{};
    PoolKeeper keeper{std::move(input->writing), std::move(output->reading), std::move(messages),
                      child};
    if (auto ready = keeper.await_start(); !ready) {
        return failure(ready.error());
    }
    return keeper;
}

Result<void> PoolKeeper::await_start() {
    int waited_ms = 0;
    while (!is_ready_ && waited_ms < start_ms_max && read_more(look_ms)) {
        waited_ms += look_ms;
    }
    if (!is_ready_) {
        input_ = OwnFd{};
        std::string text = said();
        if (text.empty()) {
            text = waited_ms < start_ms_max ? "forebay: it was killed, or cannot be executed\n"
                                            : "forebay: it was not ready in time\n";
        }
        return failure({ErrorCode::input_output, 0, std::move(text)});
    }
    daemon_ = daemon_in(variables_);
    if (daemon_ > 0) {
        directory_ = DirectoryView::of_daemon(daemon_);
        processes_.push_back(daemon_);
    }
    return {};
}

// Reads what comes within the time. False at the end of the output: no process has it open.
bool PoolKeeper::read_more(int wait_ms) {
    pollfd one{output_.get(), POLLIN, 0};
    if (::poll(&one, 1, wait_ms) <= 0) {
        return true;
    }
    std::array<char, 1U << 16U> part{};
    const ssize_t got = kernel::read(output_.get(), part.data(), part.size());
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    unread_.append(part.data(), static_cast<std::size_t>(got));
    take_words();
    return got > 0;
}

void PoolKeeper::take_words() {
    std::size_t begin = 0;
    for (std::size_t end = unread_.find('\0'); end != std::string::npos;
         end = unread_.find('\0', begin)) {
        take_word(unread_.substr(begin, end - begin));
        begin = end + 1;
    }
    unread_.erase(0, begin);
}

// An entry of the environment has a "=", and the two words of our own have none.
void PoolKeeper::take_word(const std::string& word) {
    if (word.find('=') != std::string::npos) {
        if (!is_ready_ && concerns_tasks(word)) {
            variables_.push_back(word);
        }
        return;
    }
    const std::vector<int> numbers = numbers_in(word);
    if (word.starts_with("processes ")) {
        processes_.insert(processes_.end(), numbers.begin(), numbers.end());
        is_ready_ = true;
    } else if (word.starts_with("status ") && !numbers.empty()) {
        status_ = numbers.front();
    }
}

bool PoolKeeper::join_group_of(pid_t task) const {
    return std::ranges::all_of(processes_,
                               [&](pid_t process) { return slurm::join_group_of(task, process); });
}

std::string PoolKeeper::said() const {
    std::string text;
    std::array<char, 1U << 14U> part{};
    ssize_t got = 0;
    while ((got = kernel::pread(messages_.get(), part.data(), part.size(),
                                static_cast<off_t>(text.size()))) > 0) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

void PoolKeeper::pass_on(const LineSink& sink) {
    const std::string text = said();
    for (std::size_t end = text.find('\n', passed_on_); end != std::string::npos;
         end = text.find('\n', passed_on_)) {
        sink(std::string_view{text}.substr(passed_on_, end - passed_on_));
        passed_on_ = end + 1;
    }
}

KeeperEnd PoolKeeper::finish(const LineSink& sink) {
    input_ = OwnFd{};
    while (read_more(look_ms)) {
        pass_on(sink);
    }
    pass_on(sink);
    KeeperEnd end{status_, said(), {}, directory_.is_known()};
    if (status_ < 0) {
        await_death(daemon_);
        end.lost = directory_.outstanding();
    }
    return end;
}

}  // namespace forebay::slurm
