// See dispatcher.hpp.
#include "pool/daemon/requests/dispatcher.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/daemon/requests/opening.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace forebay::daemon {

namespace {

using protocol::Ask;

// A file that opens at once is answered at once. Beyond this time a file system holds up only the
// clients that wait for it.
constexpr auto opening_wait = std::chrono::milliseconds{1};

Result<OwnFd> document_of(const std::string& text) {
    OwnFd fd{::memfd_create("forebay-status", MFD_CLOEXEC)};
    if (!fd.valid() ||
        ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        return failure(system_error(errno, "make a document"));
    }
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

pool::Task leaving(pool::Reason reason) {
    pool::Task task;
    task.kind = pool::Task::Kind::leave;
    task.reason = reason;
    return task;
}

pool::PoolOptions shared_if(pool::PoolOptions options, bool shared) {
    options.shared = shared;
    return options;
}

bool may_write(const Session& session, const protocol::Question& question) {
    const auto writes = session.writes.find(question.slot);
    return writes != session.writes.end() && writes->second == question.generation;
}

pool::Task task_of(const protocol::Question& question) {
    if (question.ask == Ask::leave) {
        return leaving(static_cast<pool::Reason>(question.number));
    }
    pool::Task task;
    if (question.ask == Ask::truncate) {
        task.kind = pool::Task::Kind::truncate;
        task.bytes = Length{question.number};
    } else if ((question.flags & protocol::to_storage) != 0) {
        task.kind = pool::Task::Kind::sync;
    } else {
        task.changes = (question.flags & protocol::before_change) != 0;
        task.for_room = (question.flags & protocol::for_room) != 0;
    }
    return task;
}

}  // namespace

Result<std::unique_ptr<Dispatcher>> Dispatcher::make(const DispatcherOptions& options,
                                                     const Clocks& clocks,
                                                     cluster::PeerTransport* post) {
    Result<SharedSegment> segment =
        SharedSegment::make("forebay-directory", sizeof(pool::Directory), Writers::daemon);
    if (!segment) {
        return failure(std::move(segment.error()));
    }
    Result<KeptJournal> journal = open_journal(options.journal, clocks.calendar);
    if (!journal) {
        return failure(std::move(journal.error()));
    }
    Result<CleanMemory> clean = CleanMemory::make(pool::clean_blocks(options.pool));
    if (!clean) {
        return failure(std::move(clean.error()));
    }
    // Last: what is held and given up unseen stays in this thread's list of what it holds.
    auto& directory = *reinterpret_cast<pool::Directory*>(segment->base());
    if (auto alive = begin_life(directory.header); !alive) {
        return failure(std::move(alive.error()));
    }
    return std::unique_ptr<Dispatcher>{new Dispatcher{std::move(*segment), std::move(*clean),
                                                      std::move(*journal), options, clocks, post}};
}

Dispatcher::Dispatcher(SharedSegment segment, CleanMemory clean, KeptJournal journal,
                       const DispatcherOptions& options, const Clocks& clocks,
                       cluster::PeerTransport* post)
    : segment_{std::move(segment)},
      directory_{*reinterpret_cast<pool::Directory*>(segment_.base())},
      clean_{std::move(clean)},
      clock_{clocks.steady},
      calendar_{clocks.calendar},
      options_{options},
      history_{directory_},
      started_ns_{clock_.now_ns()},
      deadline_{options.job_end_ns, options.job_margin_ns},
      journal_{std::move(journal)},
      pool_{directory_,
            {.memory = memory_,
             .sleepers = sleepers_,
             .clock = clocks.steady,
             .calendar = clocks.calendar,
             .background_io = &background_io_,
             .clean = &clean_,
             .effort = clocks.effort,
             .journal = journal_.writer.get(),
             .inodes = options.inodes},
            shared_if(options.pool, post != nullptr)} {
    journal_.notes.insert(journal_.notes.begin(), options.notes.begin(), options.notes.end());
    if (post != nullptr) {
        coherence_.emplace(
            cluster::CoherenceClient::Job{*post, options.node, options.nodes, options.readers},
            pool_);
        passed_.emplace(*post,
                        [this](tokens::FileKey file) { return coherence_->parent_of(file); });
        passing_.emplace(*post, *coherence_, pool_);
        directory_.header.readers.store(options.readers, relaxed);
    }
    directory_.header.format.store(pool::format, relaxed);
    directory_.header.nodes.store(options.nodes, relaxed);
    directory_.header.process.store(static_cast<std::uint64_t>(::getpid()), relaxed);
}

Dispatcher::~Dispatcher() { end_life(directory_.header, ending_); }

Answer Dispatcher::answer(Session& session, const protocol::Question& question,
                          std::vector<OwnFd> descriptors) {
    Answer answer;
    answer.reply.ask = question.ask;
    answer.reply.slot = question.slot;
    answer.reply.generation = question.generation;
    answer.asked_ns = clock_.now_ns();
    const bool known = session.client.has_value();
    switch (question.ask) {
        case Ask::hello: hello(session, question, answer); break;
        case Ask::watch: pass_directory(answer); break;
        case Ask::log: pass_log(question, answer); break;
        case Ask::status: tell_status(answer); break;
        case Ask::drain: answer.ticket = pool_.drain_all(); break;
        case Ask::stop: answer.ticket = Answer::until_the_end; break;
        case Ask::open:
            if (known) {
                open(session, question, std::move(descriptors), answer);
            } else {
                answer.refuse(ENOTCONN);
            }
            break;
        case Ask::close:
            if (known) {
                pool_.close(*session.client, question.slot, question.generation);
            } else {
                answer.refuse(ENOTCONN);
            }
            break;
        case Ask::sync:
        case Ask::leave:
        case Ask::truncate: ask(session, question, answer); break;
        case Ask::adjust: adjust(session, question, answer); break;
        case Ask::settle: settle(session, question, answer); break;
        case Ask::lend:
            if (!known || !memory_.lend(*session.client, question.group)) {
                answer.refuse(known ? EEXIST : ENOTCONN);
            }
            break;
        case Ask::borrow: pass_lent_log(question, answer); break;
        case Ask::run: run(session, question, answer); break;
        case Ask::uncaptured: make_room_for_uncaptured(session, question, answer); break;
    }
    return answer;
}

void Dispatcher::open(Session& session, const protocol::Question& question,
                      std::vector<OwnFd> descriptors, Answer& answer) {
    if (descriptors.size() != 1) {
        answer.refuse(EBADF);
        return;
    }
    const bool writes = (question.flags & protocol::for_writing) != 0;
    const auto access = access_of(descriptors.front(), writes);
    const int newest = descriptors.front().get();
    if (budget_.is_short(newest)) {
        pool_.give_descriptors_back(DescriptorBudget::given_back_max);
    }
    answer.opening = std::make_shared<Opening>(std::move(descriptors.front()),
                                               OpenWish{.path = std::string{question.path.data()},
                                                        .access = access,
                                                        .durable_name = journal_.writer != nullptr,
                                                        .only_known = budget_.is_spent(newest)},
                                               options_.storage);
    if (options_.through) {
        answer.leaves = pool::Reason::asked;
    } else if ((question.flags & protocol::through_only) != 0) {
        answer.leaves = static_cast<pool::Reason>(question.number);
        answer.outside = answer.leaves == pool::Reason::unmapped;
    }
    if (coherence_) {
        answer.file = tokens::FileKey{question.inode};
        answer.group = question.group;
        request_token(session, answer, next_opening_++);
    } else {
        begin_opening(session, answer);
    }
}

// Asks whether the other nodes' daemons let this one have the file, and how.
void Dispatcher::request_token(Session& session, Answer& answer, std::uint64_t ticket) {
    const bool writes = answer.opening->access() != pool::Access::read;
    const tokens::Token token = answer.group != 0 ? tokens::Token::collective
                                : writes          ? tokens::Token::write
                                                  : tokens::Token::read;
    const auto admission = coherence_->want(*answer.file, {token, answer.group}, ticket);
    if (!admission) {
        coming_[ticket] = {*answer.file, false};
        answer.ticket = ticket;
        return;
    }
    if (admission == tokens::Admission::refused) {
        answer.refuse(EREMOTEIO);
        return;
    }
    answer.admitted = true;
    if (admission == tokens::Admission::through && answer.leaves == pool::Reason::none) {
        answer.leaves =
            coherence_->peer_lost() ? pool::Reason::node_lost : pool::Reason::other_nodes;
    }
    begin_opening(session, answer);
}

// Nobody else has to be asked where files of the same mount have been opened before.
bool Dispatcher::opens_at_once(const Opening& opening) const {
    return !local_mounts_.empty() && !opening.takes_long() &&
           local_mounts_.contains(opening.mount());
}

void Dispatcher::begin_opening(Session& session, Answer& answer) {
    if (opens_at_once(*answer.opening)) {
        answer.opening->run();
        register_file(session, answer);
        return;
    }
    const std::uint64_t ticket = next_opening_++;
    pool_.being_opened(++opening_);
    openings_.begin(ticket, [opening = answer.opening] {
        opening->run();
        return std::int64_t{0};
    });
    if (answer.opening->over_within(opening_wait, yielding_)) {
        register_file(session, answer);
        return;
    }
    answer.ticket = ticket;
    if (answer.admitted) {
        coming_[ticket] = {*answer.file, true};
    }
}

// The file that is being opened will not be.
void Dispatcher::refuse_open(Answer& answer, int error) {
    answer.refuse(error);
    if (answer.admitted) {
        coherence_->not_entered(*answer.file);
    }
}

// Where few nodes read a file for all of them.
void Dispatcher::read_by_others(pool::OpenFile& file) {
    if (!passed_ || options_.readers == 0 || !file.open_for_reading) {
        return;
    }
    file.open_for_reading = [open = std::move(file.open_for_reading), &passed = *passed_,
                             key = tokens::FileKey{file.identity.inode}](
                                const auto& seen) -> std::unique_ptr<ports::Storage> {
        std::unique_ptr<ports::Storage> own = open(seen);
        return own ? read_by(std::move(own), passed, key, seen) : nullptr;
    };
}

// The file that was opened becomes known to the pool.
void Dispatcher::register_file(Session& session, Answer& answer) {
    const std::shared_ptr<Opening> opening = std::exchange(answer.opening, {});
    Result<pool::OpenFile> file = opening->take();
    if (!file) {
        refuse_open(answer, errno_of(file.error()));
        return;
    }
    if (answer.admitted && file->identity.inode != answer.file->inode) {
        refuse_open(answer, EPROTO);
        return;
    }
    if (!file->local) {
        local_mounts_.erase(opening->mount());  // what had this number before is gone
    } else if (opening->mount() != 0) {
        local_mounts_.insert(opening->mount());
    }
    file->rule = pool::rule_of(options_.folders, file->place);
    if (file->rule.past && answer.leaves == pool::Reason::none) {
        answer.leaves = pool::Reason::asked;
    }
    history_.look();  // what is over: its slot may be this file's
    const ports::Identity identity = file->identity;
    if (answer.outside) {
        outside_.emplace(identity.device, identity.inode);
    } else if (answer.leaves == pool::Reason::none &&
               outside_.contains({identity.device, identity.inode})) {
        answer.leaves = pool::Reason::unmapped;
    }
    // Last of the reasons: the file comes back from it.
    bring_back_after_uncaptured();
    if (runs_uncaptured_ && answer.leaves == pool::Reason::none) {
        answer.leaves = pool::Reason::uncaptured;
    }
    std::shared_ptr<Meter> meter = history_.meter_of(identity);
    if (file->storage) {
        file->storage = std::make_unique<MeteredStorage>(std::move(file->storage), meter, clock_);
    }
    read_by_others(*file);
    const pool::Access access = opening->access();
    const Result<pool::Opened> opened = pool_.open(*session.client, std::move(*file), access);
    if (!opened) {
        refuse_open(answer, errno_of(opened.error()));
        return;
    }
    if (answer.admitted && !coherence_->entered(*answer.file, opened->slot) &&
        (answer.leaves == pool::Reason::none || answer.leaves == pool::Reason::uncaptured)) {
        answer.leaves = pool::Reason::other_nodes;
    }
    history_.opened(opened->slot, identity, std::move(meter));
    if (access != pool::Access::read) {
        session.writes[opened->slot] = opened->generation;
    }
    answer.reply.slot = opened->slot;
    answer.reply.generation = opened->generation;
    if (answer.leaves != pool::Reason::none) {
        answer.ticket = pool_.ask(opened->slot, opened->generation, leaving(answer.leaves));
    }
    answer.reply.state =
        static_cast<std::uint32_t>(directory_.files[opened->slot].state.load(relaxed));
}

void Dispatcher::ask(const Session& session, const protocol::Question& question, Answer& answer) {
    if (!session.client) {
        answer.refuse(ENOTCONN);
        return;
    }
    if (question.ask == Ask::truncate && !may_write(session, question)) {
        answer.refuse(EBADF);
        return;
    }
    answer.ticket = pool_.ask(question.slot, question.generation, task_of(question));
}

// The other nodes first: the registry has this one drain it, too, where any may have deposits.
void Dispatcher::settle(const Session& session, const protocol::Question& question,
                        Answer& answer) {
    const pool::FileSlot& file = directory_.files[question.slot];
    if (!session.client || file.generation.load(relaxed) != question.generation) {
        answer.refuse(session.client ? ENOENT : ENOTCONN);
        return;
    }
    if (!coherence_) {
        answer.ticket = pool_.ask(question.slot, question.generation, pool::Task{});
        return;
    }
    answer.file = tokens::FileKey{file.inode.load(relaxed)};
    settle(answer, next_opening_++);
}

void Dispatcher::settle(Answer& answer, std::uint64_t ticket) {
    const auto settled = coherence_->settle(*answer.file, ticket);
    if (!settled) {
        coming_[ticket] = {*answer.file, false};
        answer.ticket = ticket;
    } else if (settled == tokens::Admission::refused) {
        answer.refuse(EREMOTEIO);
    }
}

void Dispatcher::adjust(const Session& session, const protocol::Question& question,
                        Answer& answer) {
    if (!session.client || !may_write(session, question)) {
        answer.refuse(session.client ? EBADF : ENOTCONN);
        return;
    }
    // Where everything is written through, nothing comes back.
    const bool back = (question.flags & protocol::comes_back) != 0;
    const int error = back && (options_.through || runs_uncaptured_)
                          ? EBUSY
                          : pool_.adjust(question.slot, question.generation,
                                         {.window = Length{question.number}, .back = back});
    if (error != 0) {
        answer.refuse(error);
    }
}

// The kernel runs no program that somebody can write to.
void Dispatcher::run(const Session& session, const protocol::Question& question, Answer& answer) {
    if (!session.client) {
        answer.refuse(ENOTCONN);
        return;
    }
    answer.program = ports::Identity{.device = static_cast<std::uint64_t>(question.number),
                                     .inode = question.inode};
    if (const auto file = pool_.known(*answer.program)) {
        answer.ticket = pool_.ask(file->slot, file->generation, pool::Task{});
    } else {
        await_closing(answer);
    }
}

void Dispatcher::await_closing(Answer& answer) {
    if (pool_.lets_go(*answer.program)) {
        answer.ticket = next_opening_++;
        running_[*answer.ticket] = *answer.program;
    }
}

std::vector<pool::Done> Dispatcher::done() {
    std::vector<pool::Done> done = pool_.done();
    if (coherence_) {
        std::erase_if(done, [this](const pool::Done& one) { return coherence_->took(one); });
        for (const std::uint64_t ticket : coherence_->again()) {
            done.push_back({ticket, 0});
        }
    }
    for (const ports::BackgroundIo::Ended& ended : openings_.ended()) {
        --opening_;
        done.push_back({ended.ticket, 0});
    }
    if (!sent_away_.empty() && everything_has_left()) {
        for (const std::uint64_t ticket : std::exchange(sent_away_, {})) {
            done.push_back({ticket, 0});
        }
    }
    std::erase_if(running_, [&](const auto& one) {
        const bool closed = !pool_.lets_go(one.second);
        if (closed) {
            done.push_back({one.first, 0});
        }
        return closed;
    });
    pool_.being_opened(opening_);  // whose time has come become known before the next round
    return done;
}

void Dispatcher::complete(Session& session, Answer& answer, std::uint64_t ticket) {
    if (answer.opening) {
        if (!session.client) {
            nobody_wants(ticket);
            answer.refuse(ENOTCONN);
        } else {
            coming_.erase(ticket);
            if (answer.file && !answer.admitted) {
                request_token(session, answer, ticket);
            } else {
                register_file(session, answer);
            }
        }
        if (answer.ticket || answer.reply.error != 0) {
            return;
        }
    }
    if (answer.reply.ask == Ask::settle && answer.file) {
        coming_.erase(ticket);
        settle(answer, ticket);
        if (answer.ticket || answer.reply.error != 0) {
            return;
        }
    }
    if (answer.refused != 0) {
        answer.refuse(answer.refused);
        return;
    }
    if (answer.outside && !coherence_ && session.client) {
        // Nobody opens it into the pool any more: the process need not say when it closes it.
        pool_.close(*session.client, answer.reply.slot, answer.reply.generation);
        session.writes.erase(answer.reply.slot);
    }
    if (answer.program) {
        await_closing(answer);
        return;
    }
    const pool::FileSlot& file = directory_.files[answer.reply.slot];
    const bool about_a_file = answer.reply.ask == Ask::open || answer.reply.ask == Ask::sync ||
                              answer.reply.ask == Ask::leave || answer.reply.ask == Ask::truncate ||
                              answer.reply.ask == Ask::settle;
    if (about_a_file && file.generation.load(relaxed) == answer.reply.generation) {
        history_.waited(answer.reply.slot, clock_.now_ns() - answer.asked_ns);
        answer.reply.state = static_cast<std::uint32_t>(file.state.load(relaxed));
    }
}

void Dispatcher::tell_status(Answer& answer) {
    const std::string text = status(false);
    if (answer.pass(document_of(text))) {
        answer.reply.number = static_cast<std::int64_t>(text.size());
    }
}

void Dispatcher::nobody_wants(std::uint64_t ticket) {
    const auto found = coming_.find(ticket);
    if (found == coming_.end()) {
        return;
    }
    if (found->second.admitted) {
        coherence_->not_entered(found->second.file);
    } else {
        coherence_->abandon(found->second.file, ticket);
    }
    coming_.erase(found);
}

void Dispatcher::announce_shutdown() {
    if (coherence_) {
        coherence_->announce_shutdown();
    }
}

void Dispatcher::leave(Session& session) {
    end_of_connection(session);
    if (session.client) {
        pool_.dismiss(*session.client);
        departing_.push_back(*session.client);
        session.client.reset();
        session.outside = false;
    }
}

bool Dispatcher::advance() {
    bool did = passed_ && passed_->turn();
    if (coherence_) {
        coherence_->hear();  // first: others may wait for its answer
    }
    did = pool_.advance() || did;
    if (coherence_) {
        did = coherence_->forget() || did;  // at once: the next open may have such a slot
        if (coherence_->closes_down()) {
            close_down(pool::Reason::node_lost);
            coherence_->draining_all(pool_.drain_all());
        }
        did = passing_->turn() || did;
    }
    did = bring_back_after_uncaptured() || did;
    std::erase_if(departing_, [&](std::uint32_t client) {
        const bool gone = pool_.departed(client);
        if (gone) {
            memory_.forget(client);
        }
        return gone;
    });
    return did;
}

}  // namespace forebay::daemon
