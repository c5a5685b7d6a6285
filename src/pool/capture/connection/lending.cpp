// Lending of the log, by file descriptor: the entries of PoolCalls, over DaemonConnection and
// LogWriter.
#include "pool/capture/connection/lending.hpp"

#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <cerrno>

namespace forebay::capture {

std::uint64_t lend_log() noexcept {
    return capturing() && connection.reach() ? connection.lend_log() : 0;
}

std::byte* reach_log(std::uint64_t name) noexcept {
    return capturing() && connection.reach() ? connection.reach_log(name) : nullptr;
}

bool lend(int fd, std::size_t bytes, pool::LentBytes* lent) noexcept {
    const int before = errno;
    const int done = on(
        fd, []() noexcept { return 0; },
        [&](CapturedFile place) noexcept {
            const auto loan = connection.log_writer().lend(place.file.file(), bytes);
            if (loan) {
                *lent = {.position = loan->position,
                         .place = loan->place,
                         .begin = loan->bytes.data(),
                         .bytes = loan->bytes.size()};
            }
            return loan ? 1 : 0;
        });
    errno = before;
    return done == 1;
}

void give_back(const pool::LentBytes* part) noexcept {
    if (connection.reached()) {
        connection.log_writer().give_back({.position = part->position,
                                           .place = part->place,
                                           .bytes = {part->begin, part->bytes}});
    }
}

void prepare(std::byte* begin, std::size_t bytes) noexcept { connection.prepare(begin, bytes); }

}  // namespace forebay::capture
