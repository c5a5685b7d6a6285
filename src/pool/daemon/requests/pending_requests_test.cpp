// Waiting requests: each is taken out when the event happens that it waits for, and by no other.
#include "pool/daemon/requests/pending_requests.hpp"

#include "pool/daemon/requests/request_context.hpp"
#include "pool/daemon/tests/server_check.hpp"

#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

class Waiting final : public ClientRequest {
public:
    using ClientRequest::ClientRequest;
    [[nodiscard]] NextStep begin(const protocol::ClientQuestion& /*question*/,
                                 std::vector<OwnFd> /*descriptors*/) override {
        return ReplyIsDue{};
    }
};

class Pending : public testing::Test {
protected:
    Pending() {
        auto made = DaemonContext::make({}, {clock_, clock_}, nullptr);
        EXPECT_TRUE(made.has_value());
        daemon_ = std::move(*made);
        context_.emplace(*daemon_);
    }
    const ClientRequest* add(Session& session, const NextStep& wait) {
        auto request = std::make_unique<Waiting>(
            *context_, session, session.add_reply(check::question(protocol::QuestionKind::sync)));
        const ClientRequest* const made = request.get();
        pending.add(std::move(request), wait);
        return made;
    }

    PendingRequests pending;
    Session one{OwnFd{}, 1};
    Session other{OwnFd{}, 2};

private:
    adapters::SteadyClock clock_;
    std::unique_ptr<DaemonContext> daemon_;
    std::optional<RequestContext> context_;
};

TEST_F(Pending, TicketsOfOneNumberAreNotMixedUp) {
    const ClientRequest* const task = add(one, TaskTicket{7});
    const ClientRequest* const token = add(one, TokenTicket{7});
    EXPECT_EQ(pending.take(OpeningTicket{7}), nullptr);
    EXPECT_EQ(pending.take(TokenTicket{7}).get(), token);
    EXPECT_EQ(pending.take(TokenTicket{7}), nullptr) << "it was taken";
    EXPECT_EQ(pending.take(TaskTicket{7}).get(), task);
}

TEST_F(Pending, ThoseOfASessionThatEndsStayAndAreNotWanted) {
    add(one, UntilFilesLeft{});
    add(other, UntilFilesLeft{});
    add(one, TaskTicket{1});
    pending.session_ended(one);
    EXPECT_TRUE(pending.wait_for_files_to_leave());
    const auto left = pending.take_until_files_left();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_FALSE(left[0]->is_wanted());
    EXPECT_TRUE(left[1]->is_wanted());
    EXPECT_FALSE(pending.take(TaskTicket{1})->is_wanted());
    EXPECT_FALSE(pending.wait_for_files_to_leave());
}

TEST_F(Pending, OnlyThoseWhoseFileIsClosedGoOn) {
    add(one, UntilFileClosed{{.device = 1, .inode = 10}});
    const ClientRequest* const closed = add(one, UntilFileClosed{{.device = 1, .inode = 11}});
    const auto is_closed = [](const ports::FileIdentity& file) { return file.inode == 11; };
    const auto taken = pending.take_closed(is_closed);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].get(), closed);
    EXPECT_TRUE(pending.take_closed(is_closed).empty());
}

}  // namespace
}  // namespace forebay::daemon
