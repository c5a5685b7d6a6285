// Finds the file in the daemon's directory by its inode, and asks the daemon to drain it.
#include "pool/capture/files/draining.hpp"

#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/known_files.hpp"
#include "pool/capture/files/lost_files.hpp"
#include "pool/capture/files/other_names.hpp"
#include "pool/capture/files/path_filter.hpp"
#include "pool/capture/processes/inside_call.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>

namespace forebay::capture {

namespace {

enum class DrainPurpose { look, change };

// Precondition: the caller has found that the file may be pooled.
int drain_inode(const struct stat& found, DrainPurpose purpose) noexcept {
    return in_one_process([&]() noexcept {
        return on_known(found, [&](CapturedFile place) noexcept {
            const int error =
                purpose == DrainPurpose::change ? drain_to_change(place) : drain(place);
            return error == ENOENT ? 0 : error;  // the pool has drained and forgotten it meanwhile
        });
    });
}

int drain_found(int folder, const char* path, int flags) noexcept {
    struct stat found{};
    const bool may = kernel::fstatat(folder, path == nullptr ? "" : path, &found, flags) == 0 &&
                     S_ISREG(found.st_mode) && may_be_known(folder, path, found);
    return may ? drain_inode(found, DrainPurpose::change) : 0;
}

int drain_uncaptured(int fd, DrainPurpose purpose) noexcept {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        return 0;
    }
    PathBuffer buffer;
    std::string_view path;
    const bool may = connection.reached()
                         ? possible_on(found.st_dev)
                         : state.other_names.may_have(found.st_dev, found.st_ino) ||
                               is_pooled(fd, found.st_dev, buffer, path);
    const int error = may ? drain_inode(found, purpose) : 0;
    return error == 0 && purpose == DrainPurpose::look && is_lost(fd) ? EIO : error;
}

int drain_descriptor(int fd, DrainPurpose purpose) noexcept {
    if (!capturing()) {
        return 0;
    }
    if (descriptors.captured(fd)) {
        return purpose == DrainPurpose::change ? drain_to_change_if_captured(fd)
                                               : drain_if_captured(fd);
    }
    const int before = errno;
    const int error = drain_uncaptured(fd, purpose);
    errno = before;
    return error;
}

}  // namespace

int drain_open(int fd) noexcept { return drain_descriptor(fd, DrainPurpose::look); }

int drain_open_to_change(int fd) noexcept { return drain_descriptor(fd, DrainPurpose::change); }

int drain_named_to_change(int folder, const char* path, int flags) noexcept {
    if (!capturing()) {
        return 0;
    }
    const int before = errno;
    const int error = drain_found(folder, path, flags);
    errno = before;
    return error;
}

int drain_and_close(dev_t device, ino_t inode) noexcept {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::run;
    question.number = static_cast<std::int64_t>(device);
    question.inode = inode;
    const auto reply = connection.ask(question);
    return reply ? reply->error : 0;
}

namespace {

int ask_to_drain_all() noexcept {
    if ((!connection.reach() && !connection.is_unmapped()) ||
        (connection.reached() && connection.life() != DaemonConnection::Life::lives)) {
        return 0;
    }
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::drain;
    const auto reply = connection.ask(question);
    if (reply) {
        return reply->error;
    }
    // A daemon that ends in good order has drained everything. A process that stays out cannot tell
    // how the daemon ended.
    return connection.reached() && connection.life() != DaemonConnection::Life::ended ? EIO : 0;
}

}  // namespace

int drain_all() noexcept { return capturing() ? in_one_process(ask_to_drain_all) : 0; }

}  // namespace forebay::capture
