// Implements the pool by its parts, and sets the order of a round: take log entries and pass them
// to the journal, free the memory of requests that have ended, answer tasks, lend memory, start
// requests, and wake the clients that sleep on any of it.
#include "pool/core/pool.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/core/credit/credit.hpp"
#include "pool/core/flush/drain.hpp"
#include "pool/core/ingest/log_ingest.hpp"
#include "pool/core/lifecycle/file_life.hpp"
#include "pool/core/lifecycle/file_opens.hpp"
#include "pool/core/prefetch/prefetch.hpp"
#include "pool/core/requests/tasks.hpp"
#include "pool/core/state/descriptors.hpp"
#include "pool/core/state/pool_state.hpp"
#include "pool/core/state/room.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::pool {

namespace {

// Below this number of free extents, files are drained as if memory were short.
constexpr std::size_t extents_low = extents_max / 4;

}  // namespace

struct Pool::State {
    State(Directory& directory, const PoolPorts& ports, const PoolOptions& options)
        : pool_state{directory, ports, options} {}

    // Whether memory, extents or client numbers are getting short.
    [[nodiscard]] bool pressed() const {
        const std::int64_t used = credit.in_use() * static_cast<std::int64_t>(block_bytes);
        return credit.wanting() || used >= pool_state.options.cap_bytes / 2 ||
               pool_state.clients.is_short() || pool_state.ingest.short_of_extents ||
               pool_state.extents.room() < extents_low;
    }
    bool begin_group();
    bool look_at_files();

    PoolState pool_state;
    BlockPrefetcher fetch{pool_state};
    LogIngest log_ingest{pool_state, fetch};
    Credit credit{pool_state};
    Drain drain{pool_state};
    FileTasks tasks{pool_state};
    FileLife life{pool_state};
};

// First in a round, before everything that may take long: while the journal's device has no group
// to write, all clients that wait for durability wait longer.
bool Pool::State::begin_group() {
    const bool any = pool_state.journal.run_once();
    if (any) {
        pool_state.wake_notified();
    }
    return any;
}

bool Pool::State::look_at_files() {
    bool any = pool_state.end_background_tasks();
    any = tasks.apply_closes() || any;
    pool_state.files.for_each_busy([&](PooledFile& file) {
        any = tasks.look_at(file) || any;
        any = life.look_at(file) || any;
    });
    pool_state.files.keep_busy([this](const PooledFile& file) {
        return file.deposits.held_bytes > 0 || file.flush.batch || file.background_task ||
               !file.requests.waiting.empty() || file.lifecycle.mixed_ns != never_ns ||
               file.prefetch.asked_by_peer_ns != never_ns || !pool_state.journal.nothing_of(file) ||
               pool_state.files.state_of(file) == FileState::leaving;
    });
    return any;
}

Pool::Pool(Directory& directory, const PoolPorts& ports, const PoolOptions& options)
    : state_{std::make_unique<State>(directory, ports, options)} {}

Pool::~Pool() = default;

std::optional<std::uint32_t> Pool::admit(std::uint64_t process, Log log) {
    return state_->pool_state.clients.admit(process, log);
}

void Pool::dismiss(std::uint32_t client) {
    if (Client* const one = state_->pool_state.clients.find(client)) {
        state_->pool_state.clients.dismiss(*one);
    }
}

bool Pool::forget_if_departed(std::uint32_t client) {
    return state_->pool_state.clients.forget_departed(client);
}

bool Pool::distrusted(std::uint32_t client) const {
    const Client* const one = state_->pool_state.clients.find(client);
    return one != nullptr && one->standing() == Client::Standing::distrusted;
}

Result<RegisteredFile> Pool::open(std::uint32_t client, DaemonFile file, AccessMode access) {
    PoolState& pool_state = state_->pool_state;
    const Client* const one = pool_state.clients.find(client);
    if (one == nullptr || !one->is_here()) {
        return failure({ErrorCode::argument, EINVAL,
                        "cannot open a file in the pool (there is no such client). It is written "
                        "directly."});
    }
    // RoomLook::began_ns stays `never_ns`: `file.room` was read at some time during open(), so a
    // close asks the file system again.
    const RoomLook look{.room = file.room, .drained_bytes = pool_state.counts.drained_bytes};
    auto known = pool_state.make_known(file);
    if (!known) {
        return failure(std::move(known.error()));
    }
    PooledFile& opened = **known;
    open_file(pool_state, client, opened, access);
    note_room(pool_state, opened, look);
    if (access != AccessMode::read && one->seal() && !pool_state.files.closing()) {
        pool_state.files.leave(opened, ThroughReason::stuck_log);
    } else if (!opened.open->control || (access != AccessMode::read && !opened.open->storage)) {
        // The daemon was too short of descriptors to open the file, or to open it for writing.
        pool_state.files.leave(opened, ThroughReason::no_descriptor);
    } else if (access != AccessMode::read && is_short_of_room(pool_state, opened, look.room)) {
        pool_state.files.leave(opened, ThroughReason::no_room);
    }
    return RegisteredFile{opened.slot, pool_state.files.generation_of(opened)};
}

int Pool::join(std::uint32_t client, const RegisteredFile& known, AccessMode access) {
    PoolState& pool_state = state_->pool_state;
    const Client* const one = pool_state.clients.find(client);
    PooledFile* const file = pool_state.files.find(known.slot, known.generation);
    const bool is_pooled = file != nullptr && file->open->control &&
                           pool_state.files.state_of(*file) == FileState::pooled;
    if (one == nullptr || !one->is_here() || !is_pooled) {
        return ESTALE;
    }
    if (access != AccessMode::read && (!file->open->storage || one->seal())) {
        return ESTALE;
    }
    open_file(pool_state, client, *file, access);
    return 0;
}

void Pool::close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation) {
    state_->tasks.close(client, slot, generation);
}

std::size_t Pool::give_descriptors_back(std::size_t most) {
    return pool::give_descriptors_back(state_->pool_state, most);
}

void Pool::being_opened(std::int64_t files) { state_->life.note_being_opened(files); }

std::uint64_t Pool::ask(std::uint32_t slot, std::uint32_t generation, const FileTask& task) {
    return state_->tasks.ask(state_->pool_state.files.find(slot, generation), task);
}

std::vector<std::uint64_t> Pool::ask_each(std::span<const std::uint32_t> slots,
                                          const FileTask& task) {
    std::vector<std::uint64_t> tickets;
    tickets.reserve(slots.size());
    for (const std::uint32_t slot : slots) {
        const FileSlot& file = state_->pool_state.directory.files[slot];
        tickets.push_back(ask(slot, file.generation.load(relaxed), task));
    }
    return tickets;
}

int Pool::adjust(std::uint32_t slot, std::uint32_t generation, const FileAdjustment& wanted) {
    PoolState& pool_state = state_->pool_state;
    PooledFile* const file = pool_state.files.find(slot, generation);
    if (file == nullptr) {
        return ENOENT;
    }
    if (wanted.window.bytes() > 0) {
        pool_state.files.slot_of(*file).window.store(
            std::min(std::max(wanted.window.bytes(), static_cast<std::int64_t>(block_bytes)),
                     pool_state.options.cap_bytes / 2),
            relaxed);
        pool_state.files.notify(*file);
    }
    return wanted.back && !pool_state.files.come_back(*file, wanted.from) ? EBUSY : 0;
}

SharedBytes Pool::share(std::uint32_t slot, const ChangeStamp& seen, const Extent& range,
                        bool begins) {
    PooledFile* const file = state_->pool_state.files.in_slot(slot);
    return file == nullptr || *file->stamp.seen != seen ? SharedBytes{}
                                                        : state_->fetch.share(*file, range, begins);
}

std::uint64_t Pool::drain_all() { return state_->tasks.drain_all(); }

void Pool::close_down(ThroughReason why) { state_->pool_state.close_down(why); }

bool Pool::all_taken() const { return state_->log_ingest.all_taken(); }

void Pool::refuse_commits() {
    close_down(ThroughReason::closing);
    state_->log_ingest.refuse_all();
}

void Pool::end() { state_->pool_state.release_waiters(); }

std::vector<GivenUpWrite> Pool::given_up() { return state_->log_ingest.take_given_up(); }

bool Pool::run_once() {
    State& state = *state_;
    bool any = state.log_ingest.run_once();
    any = state.begin_group() || any;
    any = state.drain.collect() || any;
    any = state.look_at_files() || any;
    any = state.credit.run_once() || any;
    any = state.fetch.run_once(state.credit.wanting()) || any;
    any = state.pool_state.journal.run_once() || any;
    any = state.drain.start(state.pressed() || state.pool_state.journal.pressed()) || any;
    state.pool_state.wake_notified();
    any = state.pool_state.clients.release_departed() || any;
    state.pool_state.directory.header.extents_used.store(
        static_cast<std::uint32_t>(extents_max - 1 - state.pool_state.extents.room()), relaxed);
    return any;
}

std::vector<TaskCompletion> Pool::done() { return state_->tasks.done(); }

std::vector<std::uint32_t> Pool::forgotten() { return state_->pool_state.files.take_forgotten(); }

bool Pool::idle() const {
    return state_->tasks.idle() && !state_->pool_state.files.any_busy() && !closes_under_way() &&
           state_->fetch.idle() && state_->log_ingest.idle();
}

const PoolCounts& Pool::counts() const { return state_->pool_state.counts; }

const std::vector<FailedClose>& Pool::failed_closes() const {
    return state_->pool_state.background.failed_closes();
}

bool Pool::closes_under_way() const { return state_->pool_state.background.closes_under_way(); }

bool Pool::lets_go(const ports::FileIdentity& file) const {
    return state_->pool_state.files.lets_go(file);
}

std::optional<RegisteredFile> Pool::known(const ports::FileIdentity& file) const {
    const PoolFiles& files = state_->pool_state.files;
    const PooledFile* const known = files.find(file);
    return known == nullptr
               ? std::nullopt
               : std::optional{RegisteredFile{known->slot, files.generation_of(*known)}};
}

int Pool::journal_error() const { return state_->pool_state.journal.error(); }

void Pool::kept_elsewhere(std::uint32_t slot) {
    if (PooledFile* const file = state_->pool_state.files.in_slot(slot)) {
        state_->pool_state.journal.drop(*file);
    }
}

bool Pool::finish_journal() { return state_->pool_state.journal.finish(); }

bool Pool::only_in_journal(std::uint32_t slot) const {
    const PooledFile* const file = state_->pool_state.files.in_slot(slot);
    return file != nullptr && file->journal.lost;
}

std::vector<Deposit> Pool::undrained(std::uint32_t slot) const {
    std::vector<Deposit> all;
    if (state_->pool_state.files.in_slot(slot) == nullptr) {
        return all;
    }
    const FileSlot& file = state_->pool_state.directory.files[slot];
    Offset at{0};
    while (const auto next = state_->pool_state.extents.next(file, at)) {
        all.push_back(*next);
        at = next->extent.end();
    }
    return all;
}

}  // namespace forebay::pool
