// Opening files where there is another daemon: what the request waits for, and that its token is
// given back if its client has gone.
#include "pool/daemon/requests/open.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/daemon/requests/dispatcher.hpp"
#include "pool/daemon/tests/server_check.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>

namespace forebay::daemon {
namespace {

using check::question;
using protocol::QuestionKind;
using tokens::Token;
using tokens::TokenMessage;

// The daemon of node 1, of two nodes; it answers as the test says.
class OtherDaemon final : public cluster::PeerTransport {
public:
    void send(tokens::Node to, const TokenMessage& message) override {
        EXPECT_EQ(to, 1U);
        heard.push_back(message);
    }
    std::vector<PeerMessage> arrived() override { return std::exchange(said_, {}); }
    std::vector<tokens::Node> gone() override { return {}; }
    bool anybody_silent() override { return false; }
    void ask(tokens::Node /*of*/, const protocol::PeerReadRequest& /*wanted*/) override {}
    std::vector<Request> requests() override { return {}; }
    void pass(tokens::Node /*to*/, std::uint64_t /*number*/,
              std::vector<std::byte> /*bytes*/) override {}
    bool takes_more(tokens::Node /*node*/) override { return true; }
    void refuse(tokens::Node /*to*/, std::uint64_t /*number*/) override {}
    std::vector<ReceivedPart> passed() override { return {}; }
    bool reachable(tokens::Node /*node*/) override { return true; }

    void say(const TokenMessage& message) { said_.push_back({1, message}); }
    [[nodiscard]] bool was_told(TokenMessage::Kind kind) const {
        return std::ranges::find(heard, kind, &TokenMessage::kind) != heard.end();
    }
    std::vector<TokenMessage> heard;

private:
    std::vector<PeerMessage> said_;
};

class OpenFile : public testing::Test {
protected:
    OpenFile() {
        DaemonOptions options;
        options.nodes = 2;
        auto made = DaemonContext::make(options, {clock_, calendar_}, &other);
        EXPECT_TRUE(made.has_value());
        context = std::move(*made);
        dispatcher.emplace(*context);
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
        session.emplace(OwnFd{ends[0]}, ::getpid());
        client = OwnFd{ends[1]};
        dispatcher->receive(*session, question(QuestionKind::hello, ::getpid()), {});
        EXPECT_TRUE(session->send() && session->client && check::take(client));
    }

    // Opens a file whose home is the other daemon.
    void ask_for_file() {
        for (int number = 0; key == tokens::FileKey{} || tokens::home_of(key, 2) != 1; ++number) {
            path_ = folder_.path("file" + std::to_string(number));
            fd_ = check::open_file(path_, O_RDWR | O_CREAT);
            struct stat found{};
            ASSERT_EQ(::fstat(fd_.get(), &found), 0);
            key = {found.st_ino};
        }
        protocol::ClientQuestion asked = check::question_to_open(path_, protocol::for_writing);
        asked.inode = key.inode;
        dispatcher->receive(*session, asked, check::one(std::move(fd_)));
    }
    void grant(Token token) {
        other.say({.kind = TokenMessage::Kind::grant, .token = token, .file = key});
    }
    void run_once() {
        context->run_once();
        dispatcher->run_once();
        dispatcher->resume(context->tickets.returned());
        if (session) {
            EXPECT_TRUE(session->send());
        }
    }
    template <class Condition>
    [[nodiscard]] bool round_until(const Condition& holds) {
        const std::int64_t deadline = clock_.now_ns() + 30'000'000'000;
        while (!holds() && clock_.now_ns() < deadline) {
            run_once();
        }
        return holds();
    }
    [[nodiscard]] std::optional<protocol::DaemonReply> reply() {
        EXPECT_TRUE(round_until([&] { return check::readable(client); })) << "a reply comes";
        const auto told = check::take(client);
        return told ? std::optional{told->reply} : std::nullopt;
    }
    void end_session() {
        session->end();
        dispatcher->drop_replies(*session);
        dispatcher->end_session(*session);
        session.reset();
    }

    OtherDaemon other;
    std::unique_ptr<DaemonContext> context;
    std::optional<Dispatcher> dispatcher;
    std::optional<Session> session;
    OwnFd client;
    tokens::FileKey key;

private:
    check::Folder folder_;
    adapters::SteadyClock clock_;
    adapters::CalendarClock calendar_;
    std::string path_;
    OwnFd fd_;
};

TEST_F(OpenFile, IsPooledOnceItsTokenIsGranted) {
    ask_for_file();
    run_once();
    ASSERT_EQ(other.heard.size(), 1U);
    EXPECT_EQ(other.heard[0].kind, TokenMessage::Kind::ask);
    EXPECT_EQ(other.heard[0].token, Token::write);
    EXPECT_TRUE(session->owes_replies());
    EXPECT_FALSE(check::readable(client));
    grant(Token::write);
    const auto told = reply();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->error, 0);
    EXPECT_EQ(told->state, static_cast<std::uint32_t>(pool::FileState::pooled));
}

TEST_F(OpenFile, IsThroughWhenTheReplyComesWhereAnotherNodeHasIt) {
    ask_for_file();
    grant(Token::through);
    const auto told = reply();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->error, 0);
    EXPECT_EQ(told->state, static_cast<std::uint32_t>(pool::FileState::through));
    EXPECT_EQ(context->directory.files[told->slot].reason.load(relaxed),
              pool::ThroughReason::other_nodes);
}

TEST_F(OpenFile, FailsWhereItsTokenIsRefused) {
    ask_for_file();
    grant(Token::refused);
    const auto told = reply();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->error, EREMOTEIO);
}

TEST_F(OpenFile, GivesItsTokenBackWhereTheSessionHasEndedMeanwhile) {
    ask_for_file();
    run_once();
    end_session();
    EXPECT_FALSE(context->idle()) << "the home still owes an answer";
    grant(Token::write);
    EXPECT_TRUE(round_until([&] { return other.was_told(TokenMessage::Kind::forgotten); }));
    EXPECT_TRUE(round_until([&] { return context->idle(); }));
    EXPECT_FALSE(dispatcher->has_clients());
}

TEST_F(OpenFile, IsForgottenWhereTheSessionEndsBehindTheGrant) {
    ask_for_file();
    grant(Token::write);
    context->run_once();  // the token has arrived, but the request was not resumed yet
    end_session();
    EXPECT_TRUE(round_until([&] { return other.was_told(TokenMessage::Kind::forgotten); }));
    EXPECT_TRUE(round_until([&] { return context->idle(); }));
}

}  // namespace
}  // namespace forebay::daemon
