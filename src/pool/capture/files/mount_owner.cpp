// The lines are those of proc_pid_mountinfo(5); FUSE adds the option user_id.
#include "pool/capture/files/mount_owner.hpp"

#include "foundation/kernel/calls.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace forebay::capture {

namespace {

// Longer lines, of other file systems, are skipped.
constexpr std::size_t line_max = 8192;

std::string_view field(std::string_view line, int number) noexcept {
    for (; number > 0; --number) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) {
            return {};
        }
        line.remove_prefix(space + 1);
    }
    line.remove_suffix(line.size() - std::min(line.find(' '), line.size()));
    return line;
}

}  // namespace

std::optional<uid_t> owner_in(std::string_view line, dev_t device) noexcept {
    constexpr int device_field = 2;
    constexpr std::string_view type = " - fuse";
    constexpr std::string_view option = "user_id=";
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "%u:%u", major(device), minor(device));
    const std::size_t rest = line.rfind(" - ");
    if (field(line, device_field) != name.data() || rest == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view behind = line;
    behind.remove_prefix(rest);
    if (!behind.starts_with(type)) {
        return std::nullopt;
    }
    const std::size_t at = line.find(option, rest);
    uid_t owner = 0;
    if (at == std::string_view::npos ||
        std::from_chars(line.data() + at + option.size(), line.data() + line.size(), owner).ec !=
            std::errc{}) {
        return std::nullopt;
    }
    return owner;
}

bool is_own_mount(dev_t device) noexcept {
    const int before = errno;
    const int fd = kernel::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    std::array<char, line_max> room;
    std::size_t filled = 0;
    std::optional<uid_t> owner;
    for (ssize_t got = 1; fd >= 0 && got > 0 && !owner;) {
        got = kernel::read(fd, room.data() + filled, room.size() - filled);
        filled += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        std::string_view text{room.data(), filled};
        for (std::size_t end = text.find('\n'); end != std::string_view::npos && !owner;
             end = text.find('\n')) {
            std::string_view line = text;
            line.remove_suffix(text.size() - end);
            owner = owner_in(line, device);
            text.remove_prefix(end + 1);
        }
        filled = text.size() < room.size() ? text.size() : 0;
        std::memmove(room.data(), text.data(), filled);
    }
    if (fd >= 0) {
        kernel::close(fd);
    }
    errno = before;
    return owner && (*owner == 0 || *owner == ::geteuid());
}

}  // namespace forebay::capture
