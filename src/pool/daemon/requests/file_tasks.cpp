// Translates a question about one file into a task of the pool.
#include "pool/daemon/requests/file_tasks.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/request_context.hpp"

#include <cerrno>

namespace forebay::daemon {

namespace {

using protocol::QuestionKind;

pool::FileTask task_of(const protocol::ClientQuestion& question) {
    if (question.ask == QuestionKind::leave) {
        return {.kind = pool::FileTask::Kind::leave,
                .reason = static_cast<pool::ThroughReason>(question.number)};
    }
    if (question.ask == QuestionKind::truncate) {
        return {.kind = pool::FileTask::Kind::truncate, .bytes = Length{question.number}};
    }
    if ((question.flags & protocol::to_storage) != 0) {
        return {.kind = pool::FileTask::Kind::sync};
    }
    return {.kind = pool::FileTask::Kind::drain,
            .changes = (question.flags & protocol::before_change) != 0,
            .for_room = (question.flags & protocol::for_room) != 0};
}

}  // namespace

NextStep FileTaskRequest::begin(const protocol::ClientQuestion& question,
                                std::vector<OwnFd> /*descriptors*/) {
    expects(question.ask == QuestionKind::sync || question.ask == QuestionKind::leave ||
                question.ask == QuestionKind::truncate,
            "other questions are routed elsewhere");
    if (!session().client) {
        return refuse(ENOTCONN);
    }
    if (question.ask == QuestionKind::truncate && !session().may_write(question)) {
        return refuse(EBADF);
    }
    const pool::FileTask task = task_of(question);
    kind_ = task.kind == pool::FileTask::Kind::sync ? WaitKind::sync : WaitKind::drain;
    return context().daemon.tickets.ask(question.slot, question.generation, task);
}

NextStep FileTaskRequest::go_on() {
    reply_about_file(kind_);
    return ReplyIsDue{};
}

}  // namespace forebay::daemon
