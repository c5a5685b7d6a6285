// The handlers of the kernel's requests, by what they are about. Each fills in its part of
// libfuse's table.
#pragma once

#include "pool/mount/serving/mount_server.hpp"

#include <exception>

namespace forebay::mount {

void add_name_operations(fuse_lowlevel_ops& table);
void add_attribute_operations(fuse_lowlevel_ops& table);
void add_directory_operations(fuse_lowlevel_ops& table);
void add_handle_operations(fuse_lowlevel_ops& table);
void add_data_operations(fuse_lowlevel_ops& table);
void add_lock_operations(fuse_lowlevel_ops& table);

// What a handler gets.
struct FuseRequest {
    MountServer& server;
    fuse_req_t request;

    [[nodiscard]] MountedInode& inode(fuse_ino_t number) const noexcept {
        return server.inodes().at(number);
    }
};

// A handler as libfuse calls it: its errno is the answer, unless it has answered itself.
template <auto handle, class... Arguments>
void answer(fuse_req_t request, Arguments... arguments) noexcept {
    int error = ENOMEM;
    try {
        error = handle(FuseRequest{*static_cast<MountServer*>(fuse_req_userdata(request)), request},
                       arguments...);
    } catch (const std::exception&) {
        error = ENOMEM;  // before anything was answered: that allocates nothing
    }
    if (error != replied) {
        fuse_reply_err(request, error);
    }
}

// 0, or the errno of a call that has returned -1.
inline int errno_of_call(int done) noexcept { return done == -1 ? errno : 0; }

// The handle that an answer to OPEN or CREATE has given to the kernel.
inline OpenHandle& open_handle(const fuse_file_info* file) noexcept {
    return *reinterpret_cast<OpenHandle*>(file->fh);
}

// One more lookup of the file of `fd`. An errno, or 0.
[[nodiscard]] int fill_entry(MountServer& server, OwnFd fd, fuse_entry_param& entry);
[[nodiscard]] int look_up(MountServer& server, fuse_ino_t parent, const char* name,
                          fuse_entry_param& entry);
// Its attributes, with what the pool has of it.
[[nodiscard]] int status_of(MountServer& server, MountedInode& inode, struct stat& status);

}  // namespace forebay::mount
