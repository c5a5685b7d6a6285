// Messages from other processes are input: each is checked here, once, before anything uses it.
#include "pool/protocol/messages.hpp"

#include "pool/protocol/directory.hpp"

#include <algorithm>
#include <cstring>

namespace forebay::protocol {

namespace {

bool known(Ask ask) noexcept { return ask >= first_ask && ask <= last_ask; }

// The reasons to leave that a client can have; the others are the daemon's.
bool is_of_client(std::int64_t reason) noexcept {
    return reason <= static_cast<std::int64_t>(pool::Reason::closing) ||
           reason == static_cast<std::int64_t>(pool::Reason::tables) ||
           reason == static_cast<std::int64_t>(pool::Reason::flags);
}

// The number means a different thing in each question.
bool can_be(Ask ask, std::int64_t number) noexcept {
    switch (ask) {
        case Ask::log: return number < static_cast<std::int64_t>(pool::clients_max);
        case Ask::open:
        case Ask::leave: return is_of_client(number);
        default: return true;
    }
}

bool names_log(Ask ask) noexcept { return ask == Ask::lend || ask == Ask::borrow; }

}  // namespace

std::optional<Question> question_of(std::span<const std::byte> bytes) noexcept {
    Question question;
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

std::optional<Reply> reply_of(std::span<const std::byte> bytes) noexcept {
    Reply reply;
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
