// Nothing here waits: who has a place may be on a node that does not answer.
#include "tier/posix/peer_places.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/folder_calls.hpp"
#include "storage/posix/own_folder.hpp"
#include "tier/posix/fast_folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace forebay::tier {

namespace {

constexpr std::int64_t place_second_ns = 1'000'000'000;

std::int64_t modified_time_of(const struct stat& found) noexcept {
    return found.st_mtim.tv_sec * place_second_ns + found.st_mtim.tv_nsec;
}

// The time of the file system that the place is on; 0: it cannot be told.
std::int64_t now_of(const OwnFd& folder) {
    const OwnFd file{
        kernel::openat(folder.get(), "now", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
    struct stat found{};
    return file.valid() && ::futimens(file.get(), nullptr) == 0 &&
                   kernel::fstat(file.get(), &found) == 0
               ? modified_time_of(found)
               : 0;
}

}  // namespace

PeerPlaces::PeerPlaces(std::string place) : own_{std::move(place)} {
    while (own_.size() > 1 && own_.ends_with('/')) {
        own_.pop_back();
    }
    const std::size_t slash = own_.rfind('/');
    parent_ = slash == std::string::npos ? "." : own_.substr(0, slash);
}

std::optional<std::string> PeerPlaces::find(std::uint64_t owner) {
    const std::lock_guard lock{mutex_};
    const auto known = places_.find(owner);
    if (known != places_.end() && FastFolder::owner_of(known->second) == owner) {
        return known->second;
    }
    places_.clear();
    for (const std::string& path : FastFolder::folders_in(parent_)) {
        const auto number = path == own_ ? std::nullopt : FastFolder::owner_of(path);
        if (number) {
            places_[*number] = path;
        }
    }
    const auto found = places_.find(owner);
    return found == places_.end() ? std::nullopt : std::optional{found->second};
}

bool PeerPlaces::is_used(const std::string& place) {
    const auto folder = adapters::open_own_folder(place);
    const auto file = folder ? adapters::open_own_file(*folder, FastFolder::lock_name, O_RDWR)
                             : Result<OwnFd>{OwnFd{}};
    if (!file || !file->valid()) {
        return true;  // it is not known that nobody has it
    }
    if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
        return true;
    }
    if (FastFolder::boot_in(*file) == FastFolder::boot_of_node()) {
        return false;  // the lock of a process of this kernel would have been seen
    }
    struct stat found{};
    const std::int64_t now = now_of(*folder);
    return now == 0 || kernel::fstat(file->get(), &found) != 0 ||
           now - modified_time_of(found) < lease_expires_ns;
}

Result<void> PeerPlaces::ask(const std::string& place, const ReplicaName& name) {
    const std::string path = place + "/" + FastFolder::asked_name;
    const auto folder = adapters::open_own_folder(path);
    if (!folder) {
        return failure(folder.error());
    }
    const OwnFd file{kernel::openat(folder->get(), text_of(name).c_str(),
                                    O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
    return file.valid() ? Result<void>{}
                        : failure(system_error(errno, "ask for a file in " + path));
}

}  // namespace forebay::tier
