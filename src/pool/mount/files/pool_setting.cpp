// Handler of FOREBAY_POOL_SET (include/forebay_pool.h). A file that is switched off stays aside
// until its last handle is closed, for all who have it open.
#include "pool/mount/serving/operations.hpp"

#include "forebay_pool.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace forebay::mount {

int set_pool(const FuseRequest& asked, fuse_ino_t number, const fuse_file_info* file,
             std::span<const std::byte> given) {
    MountedInode& inode = asked.inode(number);
    forebay_pool_setting setting{};
    if (asked.server.pool() == nullptr || given.size() < sizeof setting) {
        return ENOTTY;
    }
    std::memcpy(&setting, given.data(), sizeof setting);
    const bool off = setting.mode == FOREBAY_POOL_OFF || setting.durability == FOREBAY_POOL_GLOBAL;
    const bool on = setting.mode == FOREBAY_POOL_ON || setting.durability == FOREBAY_POOL_PROCESS;
    if (setting.mode > FOREBAY_POOL_ON || setting.durability > FOREBAY_POOL_GLOBAL || (on && off)) {
        return EINVAL;
    }
    if ((open_handle(file).flags & O_ACCMODE) == O_RDONLY) {
        return EBADF;
    }
    int error = off ? asked.server.route().step_aside(inode.use, pool::ThroughReason::asked) : 0;
    if (on && asked.server.route().is_aside(inode.use)) {
        error = EBUSY;
    }
    if (error == 0 && setting.window > 0) {
        error = asked.server.route().limit_window(inode.use, setting.window);
    }
    if (error == 0) {
        fuse_reply_ioctl(asked.request, 0, nullptr, 0);
        return replied;
    }
    return error;
}

}  // namespace forebay::mount
