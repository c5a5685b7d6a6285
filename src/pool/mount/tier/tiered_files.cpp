// Paths of files for the tier are asked of the kernel (/proc/self/fd), which knows them after
// renames, too.
#include "pool/mount/tier/tiered_files.hpp"

#include "foundation/kernel/descriptor_names.hpp"
#include "pool/mount/serving/operations.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace forebay::mount {

int open_tiered(tier::LiveTier& tier, MountedInode& inode, OpenHandle& handle, bool empties) {
    struct stat found{};
    if (::fstat(handle.fd.get(), &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode)) {
        return empties ? errno_of_call(::ftruncate(handle.fd.get(), 0)) : 0;
    }
    OwnFd writable;  // a file may be emptied by a program that opens it to read it
    if (empties && !handle.writes()) {
        writable = OwnFd{::open(kernel::name_of_descriptor(inode.path.get()).c_str(),
                                O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
        if (!writable.valid()) {
            return errno;
        }
    }
    return tier.open({.fd = writable.valid() ? writable.get() : handle.fd.get(),
                      .path = kernel::path_of_descriptor(inode.path.get()),
                      .writes = handle.writes(),
                      .empties = empties},
                     handle.tiered);
}

void close_tiered(tier::LiveTier& tier, OpenHandle& handle) {
    if (handle.tiered) {
        tier.close(std::exchange(handle.tiered, nullptr), handle.writes());
    }
}

tier::FastResult sync_tiered(tier::LiveTier* tier, const OpenHandle& handle, bool data_only) {
    return tier != nullptr && handle.tiered ? tier->sync(*handle.tiered, data_only)
                                            : tier::FastResult{.to_file = true};
}

int prepare_tiered(tier::LiveTier* tier, const OpenHandle& handle) {
    return tier != nullptr && handle.tiered ? tier->prepare_change(*handle.tiered).error : 0;
}

int truncate_tiered(tier::LiveTier& tier, const MountedInode& inode, std::int64_t bytes,
                    const OpenHandle* handle) {
    if (handle != nullptr && handle->tiered) {
        const tier::FastResult fast = tier.truncate(*handle->tiered, bytes);
        return fast.to_file ? errno_of_call(::ftruncate(handle->fd.get(), bytes)) : fast.error;
    }
    OpenHandle own;
    own.flags = O_WRONLY;
    own.fd = OwnFd{::open(kernel::name_of_descriptor(inode.path.get()).c_str(),
                          O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!own.fd.valid()) {
        return errno;
    }
    int error = tier.open(
        {.fd = own.fd.get(), .path = kernel::path_of_descriptor(inode.path.get()), .writes = true},
        own.tiered);
    if (error == 0) {
        const tier::FastResult fast = tier.truncate(*own.tiered, bytes);
        error = fast.to_file ? errno_of_call(::ftruncate(own.fd.get(), bytes)) : fast.error;
        close_tiered(tier, own);
    }
    return error;
}

void add_tiered_status(tier::LiveTier* tier, const MountedInode& inode, struct stat& status) {
    if (tier != nullptr) {
        tier->add_status(inode.path.get(), status);
    }
}

bool set_tiered_time(tier::LiveTier* tier, const MountedInode& inode, const timespec& modified) {
    return tier != nullptr && tier->set_modified(inode.path.get(), modified);
}

bool is_of_tier(const tier::LiveTier& /*tier*/, std::string_view name) noexcept {
    return name == tier::marker_attribute || name == order_attribute || name == state_attribute ||
           name == status_attribute;
}

std::optional<int> order_tier(tier::LiveTier& tier, const MountedInode& inode,
                              std::string_view name, std::string_view value) {
    if (name == tier::policy_attribute) {
        tier.policy_changed();  // it is set as any attribute is
        return std::nullopt;
    }
    if (!is_of_tier(tier, name)) {
        return std::nullopt;
    }
    const std::string path = kernel::path_of_descriptor(inode.path.get());
    if (name != order_attribute) {
        return EPERM;
    }
    if (value == "move") {
        return inode.is_regular ? tier.move_now(inode.path.get()) : tier.move_now(path);
    }
    if (value == "evict") {
        return inode.is_regular ? tier.evict_now(inode.path.get()) : tier.evict_now(path);
    }
    if (value == "leave") {
        tier.leave_at_end();
        return 0;
    }
    return value == "fill" ? tier.fill_now(inode.path.get(), path) : EINVAL;
}

std::optional<std::string> ask_tier(tier::LiveTier& tier, const MountedInode& inode,
                                    std::string_view name) {
    if (name == state_attribute) {
        return tier.describe(inode.path.get());
    }
    return name == status_attribute
               ? std::optional{tier.describe_all(kernel::path_of_descriptor(inode.path.get()))}
               : std::nullopt;
}

ssize_t without_tier(const tier::LiveTier* tier, char* names, ssize_t bytes, std::size_t room) {
    if (tier == nullptr || bytes <= 0 || room == 0) {
        return bytes;  // a size is an upper bound
    }
    char* to = names;
    for (const char* at = names; at < names + bytes;) {
        const std::size_t length = std::strlen(at) + 1;
        if (!is_of_tier(*tier, {at, length - 1})) {
            std::memmove(to, at, length);
            to += length;
        }
        at += length;
    }
    return to - names;
}

NameChange::NameChange(tier::LiveTier* tier, int folder, const char* name)
    : tier_{tier}, folder_{folder}, name_{name} {
    if (tier_ != nullptr) {
        file_ = OwnFd{::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        if (file_.valid()) {
            tier_->before_name_change(file_.get());
            change_.emplace(tier_, file_.get());
        }
    }
}

std::string NameChange::path() const { return kernel::path_of_descriptor(folder_) + "/" + name_; }

void NameChange::begins() {
    if (tier_ != nullptr) {
        held_ = tier_->hold_names();
    }
}

NameChange::~NameChange() {
    if (tier_ != nullptr && file_.valid()) {
        tier_->unlinked(file_.get());
    }
    change_.reset();  // of a file that has a name yet
}

void NameChange::is_now(const NameChange& other, bool exchanged) const {
    if (tier_ == nullptr) {
        return;
    }
    tier_->policy_changed();
    if (!exchanged) {
        // The file that had the other name has lost it before another file gets it.
        if (other.file_.valid()) {
            tier_->unlinked(other.file_.get());
        }
        tier_->renamed(path(), other.path());
        return;
    }
    const std::string aside = other.path() + "\n";
    tier_->renamed(other.path(), aside);
    tier_->renamed(path(), other.path());
    tier_->renamed(aside, path());
}

}  // namespace forebay::mount
