// setresuid(2) and its relatives, as system calls: see the header.
#include "pool/slurm/user_identity.hpp"

#include "foundation/kernel/system_call.hpp"

#include <array>
#include <cerrno>
#include <sys/syscall.h>

namespace forebay::slurm {

namespace {

int call(long number, long one = 0, long two = 0, long three = 0) noexcept {
    return kernel::system_call(number, one, two, three) < 0 ? errno : 0;
}

int set_groups(std::span<const gid_t> groups) noexcept {
    return call(SYS_setgroups, static_cast<long>(groups.size()), kernel::word_of(groups.data()));
}

// Whether all ids of this process are the user's, so that nothing has to be given up.
bool is_already(const UserIdentity& identity) noexcept {
    std::array<uid_t, 3> users{};
    std::array<gid_t, 3> groups{};
    return call(SYS_getresuid, kernel::word_of(&users[0]), kernel::word_of(&users[1]),
                kernel::word_of(&users[2])) == 0 &&
           call(SYS_getresgid, kernel::word_of(&groups[0]), kernel::word_of(&groups[1]),
                kernel::word_of(&groups[2])) == 0 &&
           users == std::array{identity.user, identity.user, identity.user} &&
           groups == std::array{identity.group, identity.group, identity.group};
}

long file_user(uid_t user) noexcept { return kernel::system_call(SYS_setfsuid, user); }
long file_group(gid_t group) noexcept { return kernel::system_call(SYS_setfsgid, group); }

std::vector<gid_t> groups_now() {
    const long count = kernel::system_call(SYS_getgroups);
    std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (!groups.empty()) {
        kernel::system_call(SYS_getgroups, count, kernel::word_of(groups.data()));
    }
    return groups;
}

}  // namespace

int become_for_good(const UserIdentity& identity) noexcept {
    constexpr long unchanged = -1;
    const long user = identity.user;
    const long group = identity.group;
    if (user != 0 && is_already(identity)) {
        return 0;
    }
    // slurmstepd may have root's identity put aside only.
    static_cast<void>(call(SYS_setresuid, unchanged, 0, unchanged));
    int error = set_groups(identity.groups);
    error = error != 0 ? error : call(SYS_setresgid, group, group, group);
    error = error != 0 ? error : call(SYS_setresuid, user, user, user);
    if (error == 0 && !is_already(identity)) {
        error = EPERM;
    }
    // Root cannot be had back.
    return error == 0 && user != 0 && call(SYS_setresuid, unchanged, 0, unchanged) == 0 ? EPERM
                                                                                        : error;
}

FilesAsUser::FilesAsUser(const UserIdentity& identity) noexcept : groups_before_(groups_now()) {
    constexpr uid_t nobody_at_all = ~uid_t{0};  // refused, so that the identity is only told
    const bool grouped = set_groups(identity.groups) == 0;
    group_before_ = static_cast<gid_t>(file_group(identity.group));
    user_before_ = static_cast<uid_t>(file_user(identity.user));
    holds_ = static_cast<uid_t>(file_user(nobody_at_all)) == identity.user &&
             static_cast<gid_t>(file_group(nobody_at_all)) == identity.group &&
             (grouped || groups_before_ == identity.groups);
}

FilesAsUser::~FilesAsUser() {
    file_user(user_before_);
    file_group(group_before_);
    static_cast<void>(set_groups(groups_before_));
}

}  // namespace forebay::slurm
