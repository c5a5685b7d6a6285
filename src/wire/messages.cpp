// What another process says is input: it is looked at here, once, before anything uses it.
#include "wire/messages.hpp"

#include "pool/shared/directory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace forebay::wire {

namespace {

bool known(Ask ask) noexcept { return ask >= Ask::hello && ask <= Ask::uncaptured; }

// The number means a different thing in each question.
std::int64_t most(Ask ask) noexcept {
    switch (ask) {
        case Ask::log: return static_cast<std::int64_t>(pool::clients_max) - 1;
        case Ask::open:
        case Ask::leave: return static_cast<std::int64_t>(pool::Reason::closing);
        default: return std::numeric_limits<std::int64_t>::max();
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
        question.number > most(question.ask) || (names_log(question.ask) && question.group == 0)) {
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

}  // namespace forebay::wire
