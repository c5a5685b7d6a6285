// Fuzzes the validation of messages: arbitrary bytes are refused, or are a message within its
// bounds.
#include "foundation/base/must_check.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/messages.hpp"

#include <algorithm>

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
    if (const auto question = protocol::question_of(bytes)) {
        must(size == sizeof(protocol::ClientQuestion), "a question has its size");
        must(question->slot < pool::files_max, "the slot is one");
        must(question->number >= 0, "a number is an amount");
        must(std::ranges::find(question->path, '\0') != question->path.end(), "the path ends");
        must(question->ask != protocol::QuestionKind::log ||
                 question->number < static_cast<std::int64_t>(pool::clients_max),
             "the client is one");
        must(question->ask != protocol::QuestionKind::leave ||
                 question->number <= static_cast<std::int64_t>(pool::ThroughReason::flags),
             "the reason is one");
        must(question->ask != protocol::QuestionKind::borrow || question->group != 0,
             "a log has a name");
    }
    if (const auto reply = protocol::reply_of(bytes)) {
        must(size == sizeof(protocol::DaemonReply), "a reply has its size");
        must(reply->slot < pool::files_max && reply->client < pool::clients_max,
             "slot and client are some");
    }
    return 0;
}
