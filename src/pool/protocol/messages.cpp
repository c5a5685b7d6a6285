// Messages from other processes are untrusted input: they are validated here, once, before use.
#include "pool/protocol/messages.hpp"

#include "pool/protocol/directory.hpp"

#include <algorithm>
#include <cstring>

namespace forebay::protocol {

namespace {

bool known(QuestionKind ask) noexcept { return ask >= first_ask && ask <= last_ask; }

// Whether a client may give this reason to leave; the others are the daemon's.
bool is_of_client(std::int64_t reason) noexcept {
    return reason <= static_cast<std::int64_t>(pool::ThroughReason::closing) ||
           reason == static_cast<std::int64_t>(pool::ThroughReason::tables) ||
           reason == static_cast<std::int64_t>(pool::ThroughReason::flags);
}

// Checks `number`, whose meaning depends on the question.
bool can_be(QuestionKind ask, std::int64_t number) noexcept {
    switch (ask) {
        case QuestionKind::log: return number < static_cast<std::int64_t>(pool::clients_max);
        case QuestionKind::open:
        case QuestionKind::leave: return is_of_client(number);
        default: return true;
    }
}

// Whether the question carries the name of a log, in `group`; 0 is no name.
bool names_log(QuestionKind ask) noexcept {
    return ask == QuestionKind::lend || ask == QuestionKind::borrow;
}

}  // namespace

std::optional<ClientQuestion> question_of(std::span<const std::byte> bytes) noexcept {
    ClientQuestion question;
    if (bytes.size() != sizeof question) {
        return std::nullopt;
    }
    std::memcpy(&question, bytes.data(), sizeof question);
    const bool ends =
        std::find(question.path.begin(), question.path.end(), '\0') != question.path.end();
    if (question.format != pool::format || !known(question.ask) || !ends ||
        question.slot >= pool::files_max || question.number < 0 ||
        !can_be(question.ask, question.number) ||
        (names_log(question.ask) && question.group == 0)) {
        return std::nullopt;
    }
    return question;
}

std::optional<DaemonReply> reply_of(std::span<const std::byte> bytes) noexcept {
    DaemonReply reply;
    if (bytes.size() != sizeof reply) {
        return std::nullopt;
    }
    std::memcpy(&reply, bytes.data(), sizeof reply);
    if (reply.format != pool::format || !known(reply.ask) || reply.client >= pool::clients_max ||
        reply.slot >= pool::files_max) {
        return std::nullopt;
    }
    return reply;
}

}  // namespace forebay::protocol
