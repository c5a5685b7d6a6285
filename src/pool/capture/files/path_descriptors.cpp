// Tells the daemon by a word of the log.
#include "pool/capture/files/path_descriptors.hpp"

#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>
#include <string_view>
#include <sys/stat.h>

namespace forebay::capture {

void note_opened_path(int fd) noexcept {
    const int before = errno;
    PathBuffer buffer;
    std::string_view path;
    struct stat found{};
    const bool pooled = kernel::fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                        (is_pooled(fd, found.st_dev, buffer, path) || is_known_by_inode(found));
    if (pooled) {
        in_one_process([]() noexcept {
            const bool reached = connection.reach();
            connection.note_opened_path();
            return reached;
        });
    }
    errno = before;
}

}  // namespace forebay::capture
