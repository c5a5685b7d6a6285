// The mount's calls to its tier of fast storage, if it has one. Where a function takes a pointer to
// a tier, it may be null: there is no tier, and nothing to do.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "pool/mount/files/file_use.hpp"
#include "pool/mount/tree/inodes.hpp"
#include "tier/live/live_tier.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace forebay::mount {

// Extended attributes by which a user asks a tier through its mount: the value of the first is an
// order (move, evict, fill, leave), and reading the others gives JSON.
inline constexpr const char* order_attribute = "user.forebay.order";
inline constexpr const char* state_attribute = "user.forebay.state";
inline constexpr const char* status_attribute = "user.forebay.status";

// A handle was opened, with O_TRUNC or not, or is closed. Returns 0 or an errno.
[[nodiscard]] int open_tiered(tier::LiveTier& tier, MountedInode& inode, OpenHandle& handle,
                              bool empties);
void close_tiered(tier::LiveTier& tier, OpenHandle& handle);

[[nodiscard]] tier::FastResult sync_tiered(tier::LiveTier* tier, const OpenHandle& handle,
                                           bool data_only);
// Before other calls change the bytes of a handle's backing(). Returns 0 or an errno.
[[nodiscard]] int prepare_tiered(tier::LiveTier* tier, const OpenHandle& handle);
// Calls `attempt`, which changes nothing and returns -1 and errno, with the descriptor of the
// handle's bytes. If fast storage fails, once more with that of the file itself, which has the same
// bytes, or EIO.
template <class Attempt>
[[nodiscard]] std::int64_t with_backing(tier::LiveTier* tier, const OpenHandle& handle,
                                        const Attempt& attempt) {
    for (;;) {
        const int fd = handle.backing();
        const std::int64_t done = attempt(fd);
        if (done >= 0 || tier == nullptr || fd == handle.fd.get()) {
            return done;
        }
        if (const int error = tier->after_failed_call(*handle.tiered, fd, errno); error != 0) {
            errno = error;
            return -1;
        }
    }
}
// By that handle, or without one. Returns 0 or an errno.
[[nodiscard]] int truncate_tiered(tier::LiveTier& tier, const MountedInode& inode,
                                  std::int64_t bytes, const OpenHandle* handle);
void add_tiered_status(tier::LiveTier* tier, const MountedInode& inode, struct stat& status);
// Whether the time was set, on the replica.
[[nodiscard]] bool set_tiered_time(tier::LiveTier* tier, const MountedInode& inode,
                                   const timespec& modified);

// Attributes of the tier's own, which programs do not see: copies of a file must not get them.
[[nodiscard]] bool is_of_tier(const tier::LiveTier& tier, std::string_view name) noexcept;
// Carries out an order. nullopt: this attribute is none of the tier's.
[[nodiscard]] std::optional<int> order_tier(tier::LiveTier& tier, const MountedInode& inode,
                                            std::string_view name, std::string_view value);
// The value of an attribute that is of the tier; nullopt: it has none.
[[nodiscard]] std::optional<std::string> ask_tier(tier::LiveTier& tier, const MountedInode& inode,
                                                  std::string_view name);
// Takes the tier's names out of what listxattr has returned; returns as it does.
[[nodiscard]] ssize_t without_tier(const tier::LiveTier* tier, char* names, ssize_t bytes,
                                   std::size_t room);

// While a name is removed or changed: tells the tier of it afterwards.
class NameChange {
public:
    NameChange(tier::LiveTier* tier, int folder, const char* name);
    NameChange(const NameChange&) = delete;
    NameChange& operator=(const NameChange&) = delete;
    // A file whose last name is gone loses its replica.
    ~NameChange();

    // All NameChanges of a request are made, and the names change next; see LiveTier::hold_names.
    void begins();
    // The file of this name now has the other name; if they were exchanged, also the other way
    // round.
    // Precondition: the caller holds LiveTier::renames() since before the change.
    void is_now(const NameChange& other, bool exchanged) const;

private:
    std::shared_lock<std::shared_mutex> held_;  // until after the destructor's own part
    tier::LiveTier* tier_;
    // With this name, in its folder as that is called now.
    [[nodiscard]] std::string path() const;

    int folder_;
    std::string name_;
    OwnFd file_;
    std::optional<tier::LiveTier::AttributeChange> change_;  // of its ctime
};

}  // namespace forebay::mount
