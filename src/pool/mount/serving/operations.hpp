// Handlers of the kernel's requests, grouped by subject: each function adds its group to libfuse's
// table.
#pragma once

#include "pool/mount/serving/mount_server.hpp"

#include <cstddef>
#include <exception>
#include <span>

namespace forebay::mount {

void add_name_operations(fuse_lowlevel_ops& table);
void add_attribute_operations(fuse_lowlevel_ops& table);
void add_directory_operations(fuse_lowlevel_ops& table);
void add_handle_operations(fuse_lowlevel_ops& table);
void add_data_operations(fuse_lowlevel_ops& table);
void add_lock_operations(fuse_lowlevel_ops& table);

// The server and the request that a handler works on.
struct FuseRequest {
    MountServer& server;
    fuse_req_t request;

    [[nodiscard]] MountedInode& inode(fuse_ino_t number) const noexcept {
        return server.inodes().at(number);
    }
};

// Adapter from a handler to libfuse's callback: answers with the errno that the handler returns,
// unless the handler has answered itself. Converts exceptions to ENOMEM.
template <auto handle, class... Arguments>
void answer(fuse_req_t request, Arguments... arguments) noexcept {
    int error = ENOMEM;
    try {
        error = handle(FuseRequest{*static_cast<MountServer*>(fuse_req_userdata(request)), request},
                       arguments...);
    } catch (const std::exception&) {
        error = ENOMEM;  // answers allocate nothing, so none has been sent yet
    }
    if (error != replied) {
        fuse_reply_err(request, error);
    }
}

// 0 if a system call succeeded, or errno if it returned -1.
inline int errno_of_call(int done) noexcept { return done == -1 ? errno : 0; }

// The handle that the answer to OPEN or CREATE gave to the kernel.
inline OpenHandle& open_handle(const fuse_file_info* file) noexcept {
    return *reinterpret_cast<OpenHandle*>(file->fh);
}

// Handler of FOREBAY_POOL_SET of a regular file; `given` is its argument.
[[nodiscard]] int set_pool(const FuseRequest& asked, fuse_ino_t number, const fuse_file_info* file,
                           std::span<const std::byte> given);
// Handlers of protocol::ask_whether_mounted and ask_to_capture.
[[nodiscard]] int answer_whether_mounted(const FuseRequest& asked);
[[nodiscard]] int answer_capture(const FuseRequest& asked, fuse_ino_t number,
                                 const fuse_file_info* file);

// Adds one lookup of the file of `fd`, and fills `entry` for the answer. Returns 0 or an errno.
[[nodiscard]] int fill_entry(MountServer& server, OwnFd fd, AnswerOrder order,
                             fuse_entry_param& entry);
// The same, by name. Returns 0 or an errno.
[[nodiscard]] int look_up(MountServer& server, fuse_ino_t parent, const char* name,
                          AnswerOrder order, fuse_entry_param& entry);
// stat of the inode, with what the pool adds. Returns 0 or an errno.
[[nodiscard]] int status_of(MountServer& server, MountedInode& inode, struct stat& status);
// Raises st_blksize of a file, by which programs and libraries choose their buffers: each call is a
// request here, which costs more than a call to most file systems below.
void prefer_large_calls(struct stat& status) noexcept;

}  // namespace forebay::mount
