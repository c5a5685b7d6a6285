// Only one server of this user serves a directory, also where two start in one moment, where each
// mounts in a namespace of its own, or where an earlier one still serves files that programs have
// open. The lock is an flock on a file of the user's own, so it ends with whoever holds it; the
// directory itself stays free for the locks of programs.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <optional>
#include <string>
#include <sys/stat.h>

namespace forebay::mount {

class DirectoryLock {
public:
    // Takes the lock of the directory that `found` describes; nullopt: another process has it. An
    // error says that no lock file can be made.
    [[nodiscard]] static Result<std::optional<DirectoryLock>> take(const struct stat& found);

    // The lock is held as long as this descriptor is open in any process.
    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
    // Removes the file, unless it is another one by now. To be called by the last holder.
    void remove() noexcept;

private:
    DirectoryLock(OwnFd file, std::string path) noexcept
        : file_{std::move(file)}, path_{std::move(path)} {}
    [[nodiscard]] bool has_its_name() const noexcept;

    OwnFd file_;
    std::string path_;
};

}  // namespace forebay::mount
