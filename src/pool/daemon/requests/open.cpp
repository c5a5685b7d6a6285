// The states of an open, in the order in which a request passes through them.
#include "pool/daemon/requests/open.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/base/error_number.hpp"
#include "pool/cluster/handover/handover_storage.hpp"
#include "pool/daemon/requests/request_context.hpp"
#include "pool/daemon/status/meter.hpp"

#include <cerrno>
#include <string>
#include <utility>

namespace forebay::daemon {

namespace {

pool::FileTask leave_for(pool::ThroughReason reason) {
    return {.kind = pool::FileTask::Kind::leave, .reason = reason};
}

}  // namespace

NextStep OpenFileRequest::begin(const protocol::ClientQuestion& question,
                                std::vector<OwnFd> descriptors) {
    if (!session().client) {
        return refuse(ENOTCONN);
    }
    if (descriptors.size() != 1) {
        return refuse(EBADF);
    }
    DaemonContext& daemon = context().daemon;
    const bool writes = (question.flags & protocol::for_writing) != 0;
    const auto access = access_of(descriptors.front(), writes);
    const int newest = descriptors.front().get();
    const DescriptorBudget& budget = context().opener.budget();
    if (budget.is_short(newest)) {
        daemon.give_descriptors_back();
    }
    opening_ =
        std::make_shared<FileOpening>(std::move(descriptors.front()),
                                      OpenWish{.path = std::string{question.path.data()},
                                               .access = access,
                                               .durable_name = daemon.journal.writer != nullptr,
                                               .only_known = budget.is_spent(newest),
                                               .hands_over = daemon.hands_over()},
                                      daemon.options.storage);
    if (daemon.options.through) {
        reason_ = pool::ThroughReason::asked;
    } else if ((question.flags & protocol::through_only) != 0) {
        reason_ = static_cast<pool::ThroughReason>(question.number);
        client_maps_nothing_ = reason_ == pool::ThroughReason::unmapped;
    }
    if (!daemon.coherence) {
        return begin_opening();
    }
    key_ = tokens::FileKey{question.inode};
    group_ = question.group;
    ticket_ = daemon.tickets.new_token_ticket();
    return request_token();
}

// Asks the home of the file for a token: whether this node may cache the file, and for what.
NextStep OpenFileRequest::request_token() {
    expects(key_ && ticket_ && !admitted_, "a token is asked for until it is there, and no longer");
    expects(opening_ != nullptr, "the file is opened once its token is there");
    state_ = State::awaits_token;
    DaemonContext& daemon = context().daemon;
    const bool writes = opening_->access() != pool::AccessMode::read;
    const tokens::Token token = group_ != 0 ? tokens::Token::collective
                                : writes    ? tokens::Token::write
                                            : tokens::Token::read;
    const auto admission = daemon.tickets.want(*key_, {token, group_}, *ticket_);
    if (!admission) {
        return *ticket_;
    }
    if (admission == tokens::FileAdmission::refused) {
        return refuse(EREMOTEIO);
    }
    admitted_ = true;
    if (admission == tokens::FileAdmission::through && reason_ == pool::ThroughReason::none) {
        reason_ = daemon.coherence->peer_lost() ? pool::ThroughReason::node_lost
                                                : pool::ThroughReason::other_nodes;
    }
    return begin_opening();
}

NextStep OpenFileRequest::begin_opening() {
    expects(admitted_ == context().daemon.coherence.has_value(),
            "where there are other daemons, they have admitted this one");
    state_ = State::opens;
    if (const auto ticket = context().opener.begin(opening_)) {
        return *ticket;
    }
    return register_file();
}

NextStep OpenFileRequest::refuse_opened(int error) {
    if (std::exchange(admitted_, false)) {
        context().daemon.coherence->not_entered(*key_);
    }
    return refuse(error);
}

// Where few nodes read a file for all: the file's read-ahead asks another node before the file
// system.
void OpenFileRequest::read_from_peers(pool::DaemonFile& file) const {
    DaemonContext& daemon = context().daemon;
    if (!daemon.peer_read_client || daemon.options.readers == 0 || !file.open_for_reading) {
        return;
    }
    file.open_for_reading = [open = std::move(file.open_for_reading),
                             &peers = *daemon.peer_read_client,
                             key = tokens::FileKey{file.identity.inode}](
                                const auto& seen) -> std::unique_ptr<ports::FileStorage> {
        std::unique_ptr<ports::FileStorage> own = open(seen);
        return own ? read_by(std::move(own), peers, key, seen) : nullptr;
    };
}

void OpenFileRequest::write_by_peer(pool::DaemonFile& file, const FileOpening& opening) const {
    auto& client = context().daemon.handover_client;
    if (client && file.storage && opening.for_others()) {
        file.storage = std::make_unique<cluster::HandoverStorage>(std::move(file.storage), *client,
                                                                  *opening.for_others());
    }
}

void OpenFileRequest::choose_reason(const pool::DaemonFile& file, pool::AccessMode access) {
    if ((file.rule.past || file.has_short_files) && reason_ == pool::ThroughReason::none) {
        reason_ = pool::ThroughReason::asked;
    }
    const std::pair identity{file.identity.device, file.identity.inode};
    if (client_maps_nothing_) {
        context().unmapped_files.insert(identity);
    } else if (reason_ == pool::ThroughReason::none &&
               context().unmapped_files.contains(identity)) {
        reason_ = pool::ThroughReason::unmapped;
    }
    // Uncaptured programs are the last reason to be considered, since the file returns to the pool
    // when they have ended; the other reasons are for good.
    UncapturedPeriod& uncaptured = context().uncaptured;
    uncaptured.bring_files_back(context().pending);
    if (!session().mounts && access != pool::AccessMode::read &&
        reason_ == pool::ThroughReason::none) {
        uncaptured.written_past_mounts();
    }
    if (uncaptured.keeps_files_out() && reason_ == pool::ThroughReason::none) {
        reason_ = pool::ThroughReason::uncaptured;
    }
}

// Makes the opened file known to the pool, and lets it leave at once where it may not be pooled.
NextStep OpenFileRequest::register_file() {
    expects(state_ == State::opens && opening_ != nullptr, "a file is registered once it is open");
    DaemonContext& daemon = context().daemon;
    const std::shared_ptr<FileOpening> opening = std::exchange(opening_, {});
    Result<pool::DaemonFile> file = opening->take();
    if (!file) {
        return refuse_opened(errno_of(file.error()));
    }
    if (admitted_ && file->identity.inode != key_->inode) {
        return refuse_opened(EPROTO);
    }
    context().opener.note_mount(*opening, file->local);
    file->rule = pool::rule_of(daemon.options.folders, file->place);
    // Ends the totals of forgotten files, since this file may get the slot of one.
    daemon.statistics.update();
    choose_reason(*file, opening->access());
    const ports::FileIdentity identity = file->identity;
    std::shared_ptr<StorageMeter> meter = daemon.statistics.meter_of(identity);
    write_by_peer(*file, *opening);
    if (file->storage) {
        file->storage = std::make_unique<MeteredStorage>(
            std::move(file->storage), meter, daemon.statistics.busy(), daemon.clocks.steady);
    }
    read_from_peers(*file);
    const pool::AccessMode access = opening->access();
    const Result<pool::RegisteredFile> opened =
        daemon.pool.open(*session().client, std::move(*file), access);
    if (!opened) {
        return refuse_opened(errno_of(opened.error()));
    }
    ensures(opened->slot < pool::files_max, "a file that is open has a slot of the directory");
    if (admitted_ && !daemon.coherence->entered(*key_, opened->slot) &&
        (reason_ == pool::ThroughReason::none || reason_ == pool::ThroughReason::uncaptured)) {
        reason_ = pool::ThroughReason::other_nodes;
    }
    daemon.statistics.opened(opened->slot, identity, std::move(meter));
    if (access != pool::AccessMode::read) {
        session().opened_for_writing[opened->slot] = opened->generation;
    }
    reply().slot = opened->slot;
    reply().generation = opened->generation;
    state_ = State::leaves;
    if (reason_ != pool::ThroughReason::none) {
        return daemon.tickets.ask(opened->slot, opened->generation, leave_for(reason_));
    }
    reply_about_file(WaitKind::open);
    return ReplyIsDue{};
}

// A file of a client that maps nothing stays out of the pool for everybody. So the daemon closes it
// for the client at once, and the client need not say when it does.
void OpenFileRequest::close_if_unmapped() const {
    DaemonContext& daemon = context().daemon;
    if (client_maps_nothing_ && !daemon.coherence && session().client) {
        daemon.pool.close(*session().client, reply().slot, reply().generation);
        session().opened_for_writing.erase(reply().slot);
    }
}

NextStep OpenFileRequest::go_on() {
    expects(state_ != State::asked, "a request goes on behind its beginning");
    if (state_ == State::awaits_token || state_ == State::opens) {
        if (!session().client) {
            abandon();
            return refuse(ENOTCONN);
        }
        return state_ == State::awaits_token ? request_token() : register_file();
    }
    close_if_unmapped();
    reply_about_file(WaitKind::open);
    return ReplyIsDue{};
}

void OpenFileRequest::abandon() {
    DaemonContext& daemon = context().daemon;
    if (state_ == State::awaits_token) {
        daemon.tickets.abandon(*key_, *ticket_);
    } else if (state_ == State::opens && std::exchange(admitted_, false)) {
        daemon.coherence->not_entered(*key_);
    }
}

// The thread that opens the file shares it, and closes it when the opening is over.
void OpenFileRequest::release() noexcept { opening_.reset(); }

}  // namespace forebay::daemon
