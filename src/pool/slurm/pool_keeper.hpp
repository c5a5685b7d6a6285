// The pool of a step on one node: `forebay run --pool` around a program that does nothing but wait
// for the end of the step. So all that `forebay run` does is done here, too: it starts the daemon,
// drains it when the tasks have ended, and says what became of their files.
//
//   slurmstepd ── /bin/sh (the keeper) ── forebay run ──┬── forebayd
//       │                                               └── /bin/sh (waits)
//       ├── standard input of all: a pipe, whose end ends the pool, however slurmstepd ends
//       ├── standard output: a pipe; variables for the tasks, process ids, the exit status
//       └── standard error: memory, so that nobody waits when nobody reads
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "pool/slurm/left_deposits.hpp"
#include "pool/slurm/user_identity.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace forebay::slurm {

// How the keeper is started.
struct KeeperPlan {
    std::vector<std::string> command;      // forebay run with its options, without a program
    std::vector<std::string> program;      // that of the tasks, for the record only
    std::vector<std::string> environment;  // NAME=VALUE
    UserIdentity identity;
};

struct KeeperEnd {
    int status = -1;                // that of `forebay run`; -1: the keeper was killed
    std::string text;               // all that it said
    std::vector<LeftDeposit> lost;  // if the keeper was killed
    bool is_lost_known = false;     // whether `lost` is all that the daemon knew of

    // Whether `forebay run` has said itself what became of the files: its exit status is 0, 74 (not
    // all arrived) or 75 (the journal failed).
    [[nodiscard]] bool is_told() const noexcept {
        return status == 0 || status == 74 || status == 75;
    }
};

using LineSink = std::function<void(std::string_view)>;

class PoolKeeper {
public:
    // Starts the keeper in the folder of this process, as the user and without root's rights, and
    // waits until the pool takes deposits. The error's message is what `forebay run` said.
    [[nodiscard]] static Result<PoolKeeper> start(const KeeperPlan& plan);

    // As NAME=VALUE: what the tasks need in their environment.
    [[nodiscard]] const std::vector<std::string>& variables() const noexcept { return variables_; }

    // Has the keeper's processes signalled and killed with this task's step. False: they will not
    // be.
    [[nodiscard]] bool join_group_of(pid_t task) const;

    // Complete lines that were said since the last call.
    void pass_on(const LineSink& sink);

    // Ends the pool, and waits until it is drained or killed. Passes lines on meanwhile.
    [[nodiscard]] KeeperEnd finish(const LineSink& sink);

private:
    PoolKeeper(OwnFd input, OwnFd output, OwnFd messages, pid_t keeper);

    Result<void> await_start();
    bool read_more(int wait_ms);
    void take_words();
    void take_word(const std::string& word);
    [[nodiscard]] std::string said() const;

    OwnFd input_;
    OwnFd output_;
    OwnFd messages_;
    std::vector<pid_t> processes_;
    pid_t daemon_ = 0;  // 0: there is none
    std::vector<std::string> variables_;
    DirectoryView directory_;
    std::string unread_;
    std::size_t passed_on_ = 0;  // bytes of the messages
    bool is_ready_ = false;
    int status_ = -1;
};

}  // namespace forebay::slurm
