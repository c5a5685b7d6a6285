// See file_tasks.hpp.
#include "pool/daemon/requests/file_tasks.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/request_context.hpp"

#include <cerrno>

namespace forebay::daemon {

namespace {

using protocol::Ask;

pool::Task task_of(const protocol::Question& question) {
    if (question.ask == Ask::leave) {
        return {.kind = pool::Task::Kind::leave,
                .reason = static_cast<pool::Reason>(question.number)};
    }
    if (question.ask == Ask::truncate) {
        return {.kind = pool::Task::Kind::truncate, .bytes = Length{question.number}};
    }
    if ((question.flags & protocol::to_storage) != 0) {
        return {.kind = pool::Task::Kind::sync};
    }
    return {.kind = pool::Task::Kind::drain,
            .changes = (question.flags & protocol::before_change) != 0,
            .for_room = (question.flags & protocol::for_room) != 0};
}

}  // namespace

NextStep FileTaskRequest::begin(const protocol::Question& question,
                                std::vector<OwnFd> /*descriptors*/) {
    expects(
        question.ask == Ask::sync || question.ask == Ask::leave || question.ask == Ask::truncate,
        "other questions are routed elsewhere");
    if (!session().client) {
        return refuse(ENOTCONN);
    }
    if (question.ask == Ask::truncate && !session().may_write(question)) {
        return refuse(EBADF);
    }
    return context().daemon.tickets.ask(question.slot, question.generation, task_of(question));
}

NextStep FileTaskRequest::go_on() {
    reply_about_file();
    return ReplyIsDue{};
}

}  // namespace forebay::daemon
