// The user of a step. slurmstepd is root's and has several threads, so that what changes an
// identity here changes that of the calling thread only: the system calls themselves, and not
// libc's functions, which change all threads.
#pragma once

#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace forebay::slurm {

struct UserIdentity {
    uid_t user = 0;
    gid_t group = 0;
    std::vector<gid_t> groups;  // supplementary ones
};

// Makes a process that was just forked the user's for good. Returns 0 or an errno, after which it
// must not go on. Async-signal-safe.
[[nodiscard]] int become_for_good(const UserIdentity& identity) noexcept;

// While it lives, files that this thread opens are opened with the user's permissions, and those
// that it makes are the user's: also on a file server that trusts no root.
class FilesAsUser {
public:
    explicit FilesAsUser(const UserIdentity& identity) noexcept;
    ~FilesAsUser();
    FilesAsUser(const FilesAsUser&) = delete;
    FilesAsUser& operator=(const FilesAsUser&) = delete;

    // False: they are not, and no file may be opened.
    [[nodiscard]] bool holds() const noexcept { return holds_; }

private:
    std::vector<gid_t> groups_before_;
    uid_t user_before_ = 0;
    gid_t group_before_ = 0;
    bool holds_ = false;
};

}  // namespace forebay::slurm
