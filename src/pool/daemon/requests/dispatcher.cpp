// Creates the request object for each kind of question, and drives requests until their replies are
// due.
#include "pool/daemon/requests/dispatcher.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/daemon/requests/exec.hpp"
#include "pool/daemon/requests/file_tasks.hpp"
#include "pool/daemon/requests/hello.hpp"
#include "pool/daemon/requests/immediate.hpp"
#include "pool/daemon/requests/open.hpp"
#include "pool/daemon/requests/settle.hpp"
#include "pool/daemon/requests/uncaptured_request.hpp"
#include "pool/daemon/requests/whole_pool.hpp"

#include <cerrno>
#include <utility>

namespace forebay::daemon {

namespace {

using protocol::QuestionKind;

}  // namespace

std::unique_ptr<ClientRequest> Dispatcher::make_request(QuestionKind ask, Session& session,
                                                        QueuedReply& reply) {
    const auto make = [&]<class Kind>() -> std::unique_ptr<ClientRequest> {
        return std::make_unique<Kind>(context_, session, reply);
    };
    switch (ask) {
        case QuestionKind::hello: return make.operator()<HelloRequest>();
        case QuestionKind::open: return make.operator()<OpenFileRequest>();
        case QuestionKind::sync:
        case QuestionKind::leave:
        case QuestionKind::truncate: return make.operator()<FileTaskRequest>();
        case QuestionKind::settle: return make.operator()<SettleRequest>();
        case QuestionKind::run: return make.operator()<ExecRequest>();
        case QuestionKind::uncaptured: return make.operator()<UncapturedRequest>();
        case QuestionKind::drain: return make.operator()<DrainRequest>();
        case QuestionKind::stop: return make.operator()<StopRequest>();
        case QuestionKind::watch:
        case QuestionKind::log:
        case QuestionKind::lend:
        case QuestionKind::borrow:
        case QuestionKind::status:
        case QuestionKind::join:
        case QuestionKind::close:
        case QuestionKind::adjust: break;
    }
    return make.operator()<ImmediateRequest>();
}

void Dispatcher::receive(Session& session, const protocol::ClientQuestion& question,
                         std::vector<OwnFd> descriptors) {
    QueuedReply& reply = session.add_reply(question);
    std::unique_ptr<ClientRequest> request = make_request(question.ask, session, reply);
    const NextStep next = request->begin(question, std::move(descriptors));
    carry_on(std::move(request), next);
}

void Dispatcher::reject_malformed(Session& session) {
    QueuedReply& reply = session.add_reply(protocol::ClientQuestion{});
    reply.refuse(EPROTO);
    reply.due = true;
    session.end();
}

void Dispatcher::carry_on(std::unique_ptr<ClientRequest> request, const NextStep& next) {
    expects(request->is_wanted(), "a request goes on for a session");
    if (std::holds_alternative<ReplyIsDue>(next)) {
        request->finish();
    } else {
        context_.pending.add(std::move(request), next);
    }
}

Dispatcher::Progress Dispatcher::resume(std::span<const ReturnedTicket> returned) {
    struct Ready {
        std::unique_ptr<ClientRequest> request;
        int error = 0;
    };
    // All requests that can go on are collected before the first one is resumed, since resuming one
    // may change what the others wait for.
    std::vector<Ready> ready;
    const auto add = [&](PendingRequests::List requests) {
        for (auto& request : requests) {
            ready.push_back({std::move(request)});
        }
    };
    PendingRequests& pending = context_.pending;
    for (const ReturnedTicket& one : returned) {
        if (auto request = pending.take(one.ticket)) {
            ready.push_back({std::move(request), one.error});
        }
    }
    if (pending.wait_for_files_to_leave() && context_.daemon.all_files_have_left()) {
        add(pending.take_until_files_left());
    }
    add(pending.take_closed(
        [&](const ports::FileIdentity& file) { return !context_.daemon.pool.lets_go(file); }));
    Progress progress;
    for (Ready& one : ready) {
        if (!one.request->is_wanted()) {
            one.request->abandon();
            continue;
        }
        const NextStep next = one.request->resume(one.error);
        progress.any = true;
        progress.asks_again = progress.asks_again || !std::holds_alternative<ReplyIsDue>(next);
        carry_on(std::move(one.request), next);
    }
    return progress;
}

void Dispatcher::drop_replies(Session& session) {
    context_.pending.session_ended(session);
    session.drop_replies();
}

void Dispatcher::end_session(Session& session) {
    expects(session.ended() && !session.owes_replies(), "no request refers to the session");
    context_.uncaptured.session_ended(session);
    if (std::exchange(session.mounts, false)) {
        context_.uncaptured.mount_gone();
    }
    if (session.client) {
        context_.clients.dismiss(session);
    }
}

bool Dispatcher::run_once() {
    const bool did = context_.uncaptured.bring_files_back(context_.pending);
    context_.clients.forget_departed();
    return did;
}

void Dispatcher::reply_to_stops(int error) {
    for (auto& request : context_.pending.take_until_end()) {
        if (request->is_wanted()) {
            const NextStep next = request->resume(error);
            carry_on(std::move(request), next);
        }
    }
}

}  // namespace forebay::daemon
