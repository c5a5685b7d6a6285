// The descriptor travels along: the daemon drains the file by it.
#include "pool/capture/files/introduction.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/connection/user_message.hpp"
#include "pool/capture/processes/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace forebay::capture {

IntroductionResult introduce(CapturedFile place, std::string_view path,
                             pool::ThroughReason through) noexcept {
    protocol::ClientQuestion question;
    question.ask = protocol::QuestionKind::open;
    const bool writes = (place.file.flags.load(relaxed) & O_ACCMODE) != O_RDONLY;
    const bool deposits = writes && !place.file.beside.load(relaxed);
    question.flags = deposits ? protocol::for_writing : 0;
    question.group = through == pool::ThroughReason::none ? grouping().group : 0;
    if (through != pool::ThroughReason::none) {
        question.flags |= protocol::through_only;
        question.number = static_cast<std::int64_t>(through);
    }
    struct stat found{};
    if (kernel::fstat(place.fd, &found) != 0) {
        return IntroductionResult::no;
    }
    question.inode = found.st_ino;
    // If the path is too long, its end is sent, which tells more than its beginning.
    const std::size_t bytes = std::min(path.size(), question.path.size() - 1);
    std::memcpy(question.path.data(), path.data() + (path.size() - bytes), bytes);
    const auto reply = connection.ask(question, place.fd);
    if (reply && reply->error == EREMOTEIO) {
        report_problem(question.path.data(), "another node has bytes of it that cannot be had",
                       "See the messages of the job's daemons; open it again once it is mended.");
        return IntroductionResult::refused;
    }
    if (!reply || reply->error != 0) {
        const int error = reply ? reply->error : 0;
        // EBADF: the daemon had no descriptor left to receive the file's.
        const bool failed = error == EIO || error == ENOSPC || error == EDQUOT || error == EBADF;
        return through == pool::ThroughReason::unmapped && failed ? IntroductionResult::undrained
                                                                  : IntroductionResult::no;
    }
    place.file.set_file({.slot = reply->slot, .generation = reply->generation});
    place.file.connection.store(connection.generation(), std::memory_order_release);
    return IntroductionResult::yes;
}

}  // namespace forebay::capture
