// Tests the validation of messages that arrive over the socket.
#include "pool/protocol/messages.hpp"

#include "pool/protocol/directory.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace forebay::protocol {
namespace {

template <class Message>
std::span<const std::byte> bytes_of(const Message& message) {
    return std::as_bytes(std::span{&message, 1});
}

TEST(ClientQuestion, IsTakenAsItWasSent) {
    ClientQuestion sent;
    sent.ask = QuestionKind::truncate;
    sent.slot = 5;
    sent.generation = 6;
    sent.number = 1LL << 40;
    const auto taken = question_of(bytes_of(sent));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->ask, QuestionKind::truncate);
    EXPECT_EQ(taken->slot, 5U);
    EXPECT_EQ(taken->generation, 6U);
    EXPECT_EQ(taken->number, 1LL << 40);
}

TEST(ClientQuestion, IsNoneOutsideOfItsBounds) {
    const auto refused = [](auto change) {
        ClientQuestion question;
        change(question);
        return !question_of(bytes_of(question));
    };
    EXPECT_FALSE(refused([](ClientQuestion&) {}));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.format ^= 1; }));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.ask = static_cast<QuestionKind>(0); }));
    EXPECT_TRUE(refused([](ClientQuestion& one) {
        one.ask = static_cast<QuestionKind>(static_cast<std::uint32_t>(last_ask) + 1);
    }));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.slot = pool::files_max; }));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.number = -1; }));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.path.fill('x'); }));
    EXPECT_TRUE(refused([](ClientQuestion& one) {
        one.ask = QuestionKind::log;
        one.number = pool::clients_max;
    }));
    EXPECT_TRUE(refused([](ClientQuestion& one) {
        one.ask = QuestionKind::leave;
        one.number = static_cast<std::int64_t>(pool::ThroughReason::closing) + 1;
    }));
    EXPECT_FALSE(refused([](ClientQuestion& one) {
        one.ask = QuestionKind::leave;
        one.number = static_cast<std::int64_t>(pool::ThroughReason::flags);
    }));
    EXPECT_TRUE(refused([](ClientQuestion& one) {
        one.ask = QuestionKind::leave;
        one.number = static_cast<std::int64_t>(pool::ThroughReason::flags) + 1;
    }));
    EXPECT_TRUE(refused([](ClientQuestion& one) { one.ask = QuestionKind::borrow; }));
    EXPECT_FALSE(refused([](ClientQuestion& one) {
        one.ask = QuestionKind::borrow;
        one.group = 1;
    }));
    const ClientQuestion whole;
    EXPECT_FALSE(question_of(bytes_of(whole).first(sizeof whole - 1)));
    EXPECT_FALSE(question_of({}));
}

// If the messages change, the fuzzer's corpus has to change with them: else it tests refusals only.
TEST(Corpus, HasQuestionsAndReplies) {
    int questions = 0;
    int replies = 0;
    const std::filesystem::path folder{FOREBAY_SOURCE_DIR
                                       "/tests/fuzz/pool_protocol_messages_fuzz"};
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        std::ifstream file{entry.path(), std::ios::binary};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        const auto bytes = std::as_bytes(std::span{text});
        questions += question_of(bytes) ? 1 : 0;
        replies += reply_of(bytes) ? 1 : 0;
    }
    EXPECT_GT(questions, 0);
    EXPECT_GT(replies, 0);
}

TEST(DaemonReply, IsNoneOutsideOfItsBounds) {
    DaemonReply reply;
    EXPECT_TRUE(reply_of(bytes_of(reply)));
    reply.client = pool::clients_max;
    EXPECT_FALSE(reply_of(bytes_of(reply)));
    EXPECT_FALSE(reply_of({}));
}

}  // namespace
}  // namespace forebay::protocol
