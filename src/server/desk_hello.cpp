// The part of the desk that has to do with begins: who comes, and what memory it is given to map.
#include "base/atomics.hpp"
#include "server/desk.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/eventfd.h>
#include <utility>

namespace forebay::server {

void Desk::pass_directory(Answer& answer) const {
    if (answer.pass(area_.for_reading())) {
        answer.reply.number = static_cast<std::int64_t>(sizeof(pool::Directory));
    }
}

void Desk::hello(Session& session, const wire::Question& question, Answer& answer) {
    if (session.client) {
        answer.refuse(EALREADY);
        return;
    }
    OwnFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    OwnFd client_bell{bell.valid() ? ::fcntl(bell.get(), F_DUPFD_CLOEXEC, 0) : -1};
    Result<pool::Log> log = memory_.prepare();
    if (!client_bell.valid() || !log) {
        turn_away(answer, log ? EMFILE : errno_of(log.error()),
                  "There is no memory, or no descriptor, for one more process that uses the pool.");
        return;
    }
    const auto process = session.process() > 0 ? session.process() : question.number;
    const auto client = pool_.admit(static_cast<std::uint64_t>(process), *log);
    if (!client) {
        memory_.discard();
        if (!departing_.empty()) {
            answer.refuse(EAGAIN);  // a place comes free once what a program left is drained
            return;
        }
        turn_away(answer, EUSERS,
                  "More than " + std::to_string(pool::clients_max) +
                      " processes use the pool at a time.");
        return;
    }
    memory_.assign(*client);
    session.client = client;
    session.bell = std::move(bell);
    answer.reply.client = *client;
    pass_directory(answer);
    if (answer.reply.error == 0 && answer.pass(memory_.area(*client).for_writing())) {
        answer.descriptors.push_back(std::move(client_bell));
        if (clean_.area().made()) {
            answer.pass(clean_.area().for_reading());
        }
    }
    if (answer.reply.error != 0) {
        leave(session);
    }
}

void Desk::pass_log(const wire::Question& question, Answer& answer) const {
    const auto client = static_cast<std::uint32_t>(question.number);
    const Area& area = memory_.area(client);
    answer.reply.client = client;
    if (!area.made()) {
        answer.refuse(ENOENT);
        return;
    }
    answer.pass(area.for_reading());
}

void Desk::pass_lent_log(const wire::Question& question, Answer& answer) const {
    const Area* const area = memory_.lent(question.group);
    if (area == nullptr || !area->made()) {
        answer.refuse(ENOENT);
        return;
    }
    answer.pass(area->for_writing());
}

// It would not see what is in the pool, and would write past it: so nothing may be there.
void Desk::turn_away(Answer& answer, int error, const std::string& why) {
    if (directory_.header.closing.load(relaxed) == 0) {
        close_down(pool::Reason::full);
        journal_.notes.push_back(why + " From now on all is written through.");
    }
    answer.refused = error;
    answer.ticket = pool_.drain_all();
}

}  // namespace forebay::server
