// Mount namespaces of their own, for users who may not mount where others see it: the mount is seen
// by the processes that enter the namespace, and it is gone when the last of them has ended.
#pragma once

#include "foundation/base/result.hpp"

#include <span>
#include <string>
#include <sys/types.h>

namespace forebay::mount {

// Moves this process into new mount and user namespaces, in which it has the right to mount and the
// same user and group number as before; all other users and groups appear as nobody (65534) there.
// Root gets a mount namespace only. To be called before there are threads.
[[nodiscard]] Result<void> enter_new_namespace();

// Moves this process into the namespaces of `process`. To be called before there are threads.
[[nodiscard]] Result<void> enter_namespace_of(pid_t process);

// Becomes the program of `words`, in `folder` as the namespaces of `process` show it. It has no
// privileges there, unless it is root's. If it returns, the program could not be started: the
// result is a shell's exit status, and the reason was told on standard error.
[[nodiscard]] int become_program_within(pid_t process, const std::string& folder,
                                        std::span<char* const> words);

}  // namespace forebay::mount
