// Handlers of requests about names, carried out relative to the parent directory's descriptor.
#include "pool/mount/serving/operations.hpp"
#include "pool/mount/tier/tiered_files.hpp"

#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

int fill_entry(MountServer& server, OwnFd fd, AnswerOrder order, fuse_entry_param& entry) {
    if (::fstatat(fd.get(), "", &entry.attr, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    const auto [inode, is_new] = server.inodes().add(std::move(fd), entry.attr);
    if (is_new) {
        server.route().found(inode.use, inode.path.get(), entry.attr);
        server.trimmer().added();
    }
    // A file whose deposits are lost has a name; whoever asks for its attributes is told.
    const bool is_known = server.route().add(inode.use, inode.path.get(), entry.attr) == 0;
    entry.attr_timeout = is_known ? server.attributes_valid(inode, order) : 0.0;
    add_tiered_status(server.tier(), inode, entry.attr);
    prefer_large_calls(entry.attr);
    entry.ino = InodeTable::number_of(inode);
    entry.entry_timeout = server.names_valid();
    return 0;
}

int look_up(MountServer& server, fuse_ino_t parent, const char* name, AnswerOrder order,
            fuse_entry_param& entry) {
    const int folder = server.inodes().at(parent).path.get();
    OwnFd fd{::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    return fd.valid() ? fill_entry(server, std::move(fd), order, entry) : errno;
}

namespace {

// Whoever makes something is not sent back if no descriptor is left: it was made.
enum class NoRoom { waits, comes_again };

int answer_entry(const FuseRequest& asked, fuse_ino_t parent, const char* name, AnswerOrder order,
                 NoRoom otherwise) {
    fuse_entry_param entry{};
    InodeTrimmer& trimmer = asked.server.trimmer();
    const InodeTrimmer::NameRequest request{fuse_req_ctx(asked.request)->pid, parent, name};
    int error = look_up(asked.server, parent, name, order, entry);
    if (error == EMFILE) {
        asked.server.lead().pass_on();
        if (otherwise == NoRoom::comes_again && trimmer.comes_again(request)) {
            return ESTALE;
        }
        error =
            trimmer.with_room([&] { return look_up(asked.server, parent, name, order, entry); });
    }
    if (error != 0) {
        return error;  // ENOENT: the kernel may go on to make it, which may need a descriptor, too
    }
    trimmer.has_come(request);
    fuse_reply_entry(asked.request, &entry);
    return replied;
}

int lookup(const FuseRequest& asked, fuse_ino_t parent, const char* name) {
    return answer_entry(asked, parent, name, AnswerOrder::ordered, NoRoom::comes_again);
}

void forget_one(MountServer& server, fuse_ino_t number, std::uint64_t lookups) {
    server.forget(server.inodes().at(number), lookups);
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t lookups) {
    forget_one(*static_cast<MountServer*>(fuse_req_userdata(request)), number, lookups);
    fuse_reply_none(request);
}

void forget_many(fuse_req_t request, std::size_t count, fuse_forget_data* all) {
    for (std::size_t i = 0; i < count; ++i) {
        forget_one(*static_cast<MountServer*>(fuse_req_userdata(request)), all[i].ino,
                   all[i].nlookup);
    }
    fuse_reply_none(request);
}

int folder(const FuseRequest& asked, fuse_ino_t parent) { return asked.inode(parent).path.get(); }

// Creates a file or directory of that mode with the caller's identity: `make` returns as the system
// call does.
template <class Make>
int made(const FuseRequest& asked, fuse_ino_t parent, const char* name, mode_t mode,
         const Make& make) {
    const int error = asked.server.with_room_below([&] {
        const CallerIdentity caller{*fuse_req_ctx(asked.request), asked.server.by_root(),
                                    folder(asked, parent), mode};
        return errno_of_call(make());
    });
    return error != 0 ? error
                      : answer_entry(asked, parent, name, AnswerOrder::unordered, NoRoom::waits);
}

int mknod(const FuseRequest& asked, fuse_ino_t parent, const char* name, mode_t mode,
          dev_t device) {
    return made(asked, parent, name, mode,
                [&] { return ::mknodat(folder(asked, parent), name, mode, device); });
}

int mkdir(const FuseRequest& asked, fuse_ino_t parent, const char* name, mode_t mode) {
    return made(asked, parent, name, mode,
                [&] { return ::mkdirat(folder(asked, parent), name, mode); });
}

int symlink(const FuseRequest& asked, const char* target, fuse_ino_t parent, const char* name) {
    return made(asked, parent, name, 0,
                [&] { return ::symlinkat(target, folder(asked, parent), name); });
}

int unlink(const FuseRequest& asked, fuse_ino_t parent, const char* name) {
    NameChange change{asked.server.tier(), folder(asked, parent), name};
    change.begins();
    const int error = errno_of_call(::unlinkat(folder(asked, parent), name, 0));
    if (error == 0) {
        asked.server.route().note_unlinked();
    }
    return error;
}

int rmdir(const FuseRequest& asked, fuse_ino_t parent, const char* name) {
    return errno_of_call(::unlinkat(folder(asked, parent), name, AT_REMOVEDIR));
}

int rename(const FuseRequest& asked, fuse_ino_t parent, const char* name, fuse_ino_t to_parent,
           const char* to_name, unsigned flags) {
    NameChange from{asked.server.tier(), folder(asked, parent), name};
    const NameChange to{asked.server.tier(), folder(asked, to_parent), to_name};
    from.begins();
    std::optional<tier::RenameOrder::Rename> order;
    if (asked.server.tier() != nullptr) {
        order.emplace(asked.server.tier()->renames());
    }
    const auto done = ::syscall(SYS_renameat2, folder(asked, parent), name,
                                folder(asked, to_parent), to_name, flags);
    const int error = errno_of_call(static_cast<int>(done));
    if (error == 0) {
        asked.server.route().note_unlinked();  // of what was at the new name
        from.is_now(to, (flags & RENAME_EXCHANGE) != 0);
    }
    return error;
}

int link(const FuseRequest& asked, fuse_ino_t number, fuse_ino_t parent, const char* name) {
    const DescriptorName from{asked.inode(number).path.get()};
    const tier::LiveTier::AttributeChange change{asked.server.tier(),
                                                 asked.inode(number).path.get()};
    const int done =
        ::linkat(AT_FDCWD, from.text(), folder(asked, parent), name, AT_SYMLINK_FOLLOW);
    return done != 0 ? errno
                     : answer_entry(asked, parent, name, AnswerOrder::unordered, NoRoom::waits);
}

int readlink(const FuseRequest& asked, fuse_ino_t number) {
    std::string target(PATH_MAX + 1, '\0');
    const ssize_t bytes =
        ::readlinkat(asked.inode(number).path.get(), "", target.data(), target.size());
    if (bytes < 0) {
        return errno;
    }
    if (bytes == static_cast<ssize_t>(target.size())) {
        return ENAMETOOLONG;
    }
    target.resize(static_cast<std::size_t>(bytes));
    fuse_reply_readlink(asked.request, target.c_str());
    return replied;
}

}  // namespace

void add_name_operations(fuse_lowlevel_ops& table) {
    table.lookup = &answer<&lookup, fuse_ino_t, const char*>;
    table.forget = &forget;
    table.forget_multi = &forget_many;
    table.mknod = &answer<&mknod, fuse_ino_t, const char*, mode_t, dev_t>;
    table.mkdir = &answer<&mkdir, fuse_ino_t, const char*, mode_t>;
    table.symlink = &answer<&symlink, const char*, fuse_ino_t, const char*>;
    table.unlink = &answer<&unlink, fuse_ino_t, const char*>;
    table.rmdir = &answer<&rmdir, fuse_ino_t, const char*>;
    table.rename = &answer<&rename, fuse_ino_t, const char*, fuse_ino_t, const char*, unsigned>;
    table.link = &answer<&link, fuse_ino_t, fuse_ino_t, const char*>;
    table.readlink = &answer<&readlink, fuse_ino_t>;
}

}  // namespace forebay::mount
