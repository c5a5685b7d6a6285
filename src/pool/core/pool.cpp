// The order of a round: the pool takes the log entries that have come and passes them to the
// journal, frees the memory of ended requests, answers tasks, lends memory, starts requests, and
// wakes the clients that sleep on any of it.
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

constexpr std::size_t extents_low = extents_max / 4;

}  // namespace

struct Pool::State {
    State(Directory& directory, const PoolPorts& ports, const PoolOptions& options)
        : pool_state{directory, ports, options} {}

    // Memory, or room in the lists, is getting short.
    [[nodiscard]] bool pressed() const {
        const std::int64_t used = credit.in_use() * static_cast<std::int64_t>(block_bytes);
        return credit.wanting() || used >= pool_state.options.cap_bytes / 2 || short_of_clients() ||
               pool_state.short_of_extents || pool_state.extents.room() < extents_low;
    }
    // A program that has gone stays one until what it left behind is drained.
    [[nodiscard]] bool short_of_clients() const {
        return pool_state.admitted.size() >= clients_max / 2 &&
               std::ranges::any_of(pool_state.admitted, [this](std::uint32_t number) {
                   return pool_state.clients[number]->standing == Client::Standing::gone;
               });
    }
    bool begin_group();
    bool look_at_files();
    bool let_go();

    PoolState pool_state;
    Prefetch fetch{pool_state};
    LogIngest log_ingest{pool_state, fetch};
    Credit credit{pool_state};
    Drain drain{pool_state};
    Tasks tasks{pool_state};
    FileLife life{pool_state};
};

// Before all that may take long: while a device waits for its next group, so do all who write.
bool Pool::State::begin_group() {
    const bool any = pool_state.journal.round();
    if (any) {
        pool_state.wake_all();
    }
    return any;
}

bool Pool::State::look_at_files() {
    bool any = pool_state.end_background_tasks();
    any = tasks.apply_closes() || any;
    for (std::size_t i = 0; i < pool_state.busy.size(); ++i) {
        if (File* const file = pool_state.files[pool_state.busy[i]].get()) {
            any = tasks.look_at(*file) || any;
            any = life.look_at(*file) || any;
        }
    }
    std::erase_if(pool_state.busy, [this](std::uint32_t slot) {
        File* const file = pool_state.files[slot].get();
        if (file == nullptr) {
            return true;
        }
        file->busy = file->deposits.held_bytes > 0 || file->flush.batch || file->background_task ||
                     !file->requests.waiting.empty() || file->notifies ||
                     file->lifecycle.mixed_ns != never_ns ||
                     file->prefetch.asked_by_peer_ns != never_ns ||
                     !pool_state.journal.nothing_of(*file) ||
                     pool_state.state_of(*file) == FileState::leaving;
        return !file->busy;
    });
    return any;
}

// Clients that have gone, and whose logs hold nothing any more.
bool Pool::State::let_go() {
    return std::erase_if(pool_state.admitted, [&](std::uint32_t number) {
               Client& client = *pool_state.clients[number];
               if (client.standing != Client::Standing::gone || client.news ||
                   client.blocks.provided() > 0) {
                   return false;
               }
               client.standing = Client::Standing::departed;
               pool_state.directory.clients[number].used.store(0, std::memory_order_release);
               return true;
           }) > 0;
}

Pool::Pool(Directory& directory, const PoolPorts& ports, const PoolOptions& options)
    : state_{std::make_unique<State>(directory, ports, options)} {}

Pool::~Pool() = default;

std::optional<std::uint32_t> Pool::admit(std::uint64_t process, Log log) {
    return state_->pool_state.admit(process, log);
}

void Pool::dismiss(std::uint32_t client) {
    Client* const one = state_->pool_state.client(client);
    if (one != nullptr && one->standing <= Client::Standing::distrusted) {
        state_->pool_state.stop_listening(client);
        one->standing = Client::Standing::leaving;
    }
}

bool Pool::departed(std::uint32_t client) {
    const Client* const one = state_->pool_state.client(client);
    if (one != nullptr && one->standing == Client::Standing::departed) {
        state_->pool_state.clients[client].reset();
        return true;
    }
    return one == nullptr;
}

bool Pool::distrusted(std::uint32_t client) const {
    const Client* const one = state_->pool_state.client(client);
    return one != nullptr && one->standing == Client::Standing::distrusted;
}

Result<Opened> Pool::open(std::uint32_t client, OpenFile file, Access access) {
    PoolState& pool_state = state_->pool_state;
    Client* const one = pool_state.client(client);
    if (one == nullptr || one->standing != Client::Standing::here) {
        return failure({ErrorCode::argument, EINVAL,
                        "cannot open a file in the pool (there is no such client). It is written "
                        "directly."});
    }
    // When that was is not known exactly: before a close it is asked again.
    const RoomLook look{.room = file.room, .drained_bytes = pool_state.counts.drained_bytes};
    auto known = pool_state.make_known(file);
    if (!known) {
        return failure(std::move(known.error()));
    }
    File& opened = **known;
    open_file(pool_state, client, opened, access);
    note_room(pool_state, opened, look);
    if (!opened.open->control) {
        pool_state.leave(opened, Reason::no_descriptor);
    } else if (access != Access::read && !opened.open->storage) {
        pool_state.leave(opened, Reason::asked);  // nobody could drain it
    } else if (access != Access::read && is_short_of_room(pool_state, opened, look.room)) {
        pool_state.leave(opened, Reason::no_room);
    }
    return Opened{opened.slot, pool_state.slot_of(opened).generation.load(relaxed)};
}

void Pool::close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation) {
    state_->tasks.close(client, slot, generation);
}

std::size_t Pool::give_descriptors_back(std::size_t most) {
    return pool::give_descriptors_back(state_->pool_state, most);
}

void Pool::being_opened(std::int64_t files) { state_->pool_state.being_opened = files; }

std::uint64_t Pool::ask(std::uint32_t slot, std::uint32_t generation, const Task& task) {
    return state_->tasks.ask(state_->pool_state.file(slot, generation), task);
}

std::vector<std::uint64_t> Pool::ask_each(std::span<const std::uint32_t> slots, const Task& task) {
    std::vector<std::uint64_t> tickets;
    tickets.reserve(slots.size());
    for (const std::uint32_t slot : slots) {
        const FileSlot& file = state_->pool_state.directory.files[slot];
        tickets.push_back(ask(slot, file.generation.load(relaxed), task));
    }
    return tickets;
}

int Pool::adjust(std::uint32_t slot, std::uint32_t generation, const Adjustment& wanted) {
    PoolState& pool_state = state_->pool_state;
    File* const file = pool_state.file(slot, generation);
    if (file == nullptr) {
        return ENOENT;
    }
    if (wanted.window.bytes() > 0) {
        pool_state.slot_of(*file).window.store(
            std::min(std::max(wanted.window.bytes(), static_cast<std::int64_t>(block_bytes)),
                     pool_state.options.cap_bytes / 2),
            relaxed);
        pool_state.notify(*file);
    }
    return wanted.back && !pool_state.come_back(*file, wanted.from) ? EBUSY : 0;
}

Shared Pool::share(std::uint32_t slot, const Stamp& seen, const Extent& range, bool begins) {
    File* const file = slot < files_max ? state_->pool_state.files[slot].get() : nullptr;
    return file == nullptr || *file->stamp.seen != seen ? Shared{}
                                                        : state_->fetch.share(*file, range, begins);
}

std::uint64_t Pool::drain_all() { return state_->tasks.drain_all(); }

void Pool::close_down(Reason why) {
    PoolState& pool_state = state_->pool_state;
    pool_state.closes_for = pool_state.closing ? pool_state.closes_for : why;
    pool_state.closing = true;
    pool_state.directory.header.closing.store(1, std::memory_order_seq_cst);
    for (const auto& [identity, slot] : pool_state.slots) {
        pool_state.leave(*pool_state.files[slot], pool_state.closes_for);
    }
    for (const std::uint32_t client : pool_state.admitted) {
        pool_state.seal(client);
    }
}

bool Pool::all_taken() const {
    const PoolState& pool_state = state_->pool_state;
    return std::ranges::all_of(pool_state.admitted, [&](std::uint32_t number) {
        const Client& client = *pool_state.clients[number];
        const bool over = client.standing == Client::Standing::gone ||
                          client.standing == Client::Standing::departed ||
                          client.standing == Client::Standing::distrusted;
        return over || (client.sealed_ns && std::ranges::all_of(client.open, &OpenEntry::revoked));
    });
}

void Pool::refuse_commits() {
    close_down(Reason::closing);
    state_->log_ingest.refuse_all();
}

void Pool::end() { state_->pool_state.release_waiters(); }

std::vector<GivenUpWrite> Pool::given_up() {
    return std::exchange(state_->pool_state.given_up, {});
}

bool Pool::advance() {
    State& state = *state_;
    bool any = state.log_ingest.round();
    any = state.begin_group() || any;
    any = state.drain.collect() || any;
    any = state.look_at_files() || any;
    any = state.credit.round() || any;
    any = state.fetch.round(state.credit.wanting()) || any;
    any = state.pool_state.journal.round() || any;
    any = state.drain.start(state.pressed() || state.pool_state.journal.pressed()) || any;
    state.pool_state.wake_all();
    any = state.let_go() || any;
    state.pool_state.directory.header.extents_used.store(
        static_cast<std::uint32_t>(extents_max - 1 - state.pool_state.extents.room()), relaxed);
    return any;
}

std::vector<Done> Pool::done() { return state_->tasks.done(); }

std::vector<std::uint32_t> Pool::forgotten() {
    return std::exchange(state_->pool_state.forgotten, {});
}

bool Pool::idle() const {
    const PoolState& pool_state = state_->pool_state;
    return state_->tasks.idle() && pool_state.busy.empty() && !closing() && state_->fetch.idle() &&
           std::ranges::all_of(pool_state.admitted, [&](std::uint32_t number) {
               return std::ranges::all_of(pool_state.clients[number]->open, &OpenEntry::revoked);
           });
}

const Counts& Pool::counts() const { return state_->pool_state.counts; }

const std::vector<FailedClose>& Pool::failed_closes() const {
    return state_->pool_state.failed_closes;
}

bool Pool::closing() const { return state_->pool_state.closing_files(); }

bool Pool::lets_go(const ports::Identity& file) const { return state_->pool_state.lets_go(file); }

std::optional<Opened> Pool::known(const ports::Identity& file) const {
    const PoolState& pool_state = state_->pool_state;
    const auto found = pool_state.slots.find({file.device, file.inode});
    if (found == pool_state.slots.end()) {
        return std::nullopt;
    }
    const FileSlot& slot = pool_state.directory.files[found->second];
    return Opened{.slot = found->second, .generation = slot.generation.load(relaxed)};
}

int Pool::journal_error() const { return state_->pool_state.journal.error(); }

void Pool::kept_elsewhere(std::uint32_t slot) {
    if (File* const file = slot < files_max ? state_->pool_state.files[slot].get() : nullptr) {
        state_->pool_state.journal.drop(*file);
    }
}

bool Pool::finish_journal() { return state_->pool_state.journal.finish(); }

bool Pool::only_in_journal(std::uint32_t slot) const {
    const File* const file = slot < files_max ? state_->pool_state.files[slot].get() : nullptr;
    return file != nullptr && file->journal.lost;
}

std::vector<Deposit> Pool::undrained(std::uint32_t slot) const {
    std::vector<Deposit> all;
    if (slot >= files_max || !state_->pool_state.files[slot]) {
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
