// Answers the questions for which nothing has to happen first.
#include "pool/daemon/requests/immediate.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/memory_questions.hpp"
#include "pool/daemon/requests/request_context.hpp"

#include <cerrno>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace forebay::daemon {

namespace {

using protocol::QuestionKind;

Result<OwnFd> document_of(const std::string& text) {
    OwnFd fd{::memfd_create("forebay-status", MFD_CLOEXEC)};
    if (!fd.valid() ||
        ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        return failure(system_error(errno, "make a document"));
    }
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

}  // namespace

NextStep ImmediateRequest::begin(const protocol::ClientQuestion& question,
                                 std::vector<OwnFd> /*descriptors*/) {
    DaemonContext& daemon = context().daemon;
    switch (question.ask) {
        case QuestionKind::watch: pass_directory(daemon, queued()); break;
        case QuestionKind::log: pass_log(daemon, question, queued()); break;
        case QuestionKind::borrow: pass_lent_log(daemon, question, queued()); break;
        case QuestionKind::lend: lend_log(daemon, session(), question, queued()); break;
        case QuestionKind::status: pass_status(); break;
        case QuestionKind::join: join(question); break;
        case QuestionKind::close: close(question); break;
        case QuestionKind::adjust: adjust(question); break;
        default: invariant(false, "a question that may have to wait is routed elsewhere");
    }
    return ReplyIsDue{};
}

// No descriptor comes along: forebay-mount has opened the file for the program, with the kernel's
// checks, and all clients of a daemon are its user's.
void ImmediateRequest::join(const protocol::ClientQuestion& question) const {
    if (!session().client || session().maps_nothing) {
        queued().refuse(ENOTCONN);
        return;
    }
    if (context().daemon.coherence) {
        queued().refuse(ENOTSUP);  // the home of the file has not heard of it
        return;
    }
    const bool writes = (question.flags & protocol::for_writing) != 0;
    const int error = context().daemon.pool.join(
        *session().client, {.slot = question.slot, .generation = question.generation},
        writes ? pool::AccessMode::both : pool::AccessMode::read);
    if (error != 0) {
        queued().refuse(error);
        return;
    }
    if (writes) {
        session().opened_for_writing[question.slot] = question.generation;
    }
    reply().slot = question.slot;
    reply().generation = question.generation;
}

void ImmediateRequest::close(const protocol::ClientQuestion& question) const {
    if (!session().client) {
        queued().refuse(ENOTCONN);
        return;
    }
    context().daemon.pool.close(*session().client, question.slot, question.generation);
}

void ImmediateRequest::adjust(const protocol::ClientQuestion& question) const {
    if (!session().client || !session().may_write(question)) {
        queued().refuse(session().client ? EBADF : ENOTCONN);
        return;
    }
    // Where everything is written through, or while an uncaptured program runs, no file returns to
    // the pool.
    DaemonContext& daemon = context().daemon;
    const bool back = (question.flags & protocol::comes_back) != 0;
    const int error = back && (daemon.options.through || context().uncaptured.keeps_files_out())
                          ? EBUSY
                          : daemon.pool.adjust(question.slot, question.generation,
                                               {.window = Length{question.number}, .back = back});
    if (error != 0) {
        queued().refuse(error);
    }
}

void ImmediateRequest::pass_status() const {
    const std::string text = context().daemon.status(false);
    if (queued().pass(document_of(text))) {
        reply().number = static_cast<std::int64_t>(text.size());
    }
}

}  // namespace forebay::daemon
