// Which files are in use, what is done when they are opened and closed, and what is asked of all.
#include "tier/live/live_tier.hpp"

#include "foundation/base/error_number.hpp"
#include "foundation/base/folder_path.hpp"
#include "foundation/base/report.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/descriptor_names.hpp"
#include "tier/catalogue/redo.hpp"
#include "tier/live/fast_errors.hpp"
#include "tier/posix/tiered_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace forebay::tier {

namespace {

void tell(const std::string& message) { forebay::report("forebay-mount", message); }

}  // namespace

LiveTier::LiveTier(std::unique_ptr<FastFolder> fast, OwnFd fast_folder,
                   std::unique_ptr<GlobalFolder> global, OwnFd global_folder, PolicyFinder policies)
    : fast_{std::move(fast)},
      fast_folder_{std::move(fast_folder)},
      global_{std::move(global)},
      below_{std::move(global_folder)},
      policies_{std::move(policies)},
      peers_{fast_->path()} {}

Result<std::unique_ptr<LiveTier>> LiveTier::start(const LiveOptions& options) {
    auto fast = FastFolder::open(options.fast);
    if (!fast) {
        return failure(std::move(fast.error()));
    }
    auto global = GlobalFolder::open(options.global);
    if (!global) {
        return failure(std::move(global.error()));
    }
    auto fast_folder = GlobalFolder::open(options.fast);
    if (!fast_folder) {
        return failure(std::move(fast_folder.error()));
    }
    if (FolderPath{(*global)->path()}.holds((*fast_folder)->path()) ||
        FolderPath{(*fast_folder)->path()}.holds((*global)->path())) {
        return failure(
            {ErrorCode::argument, 0,
             fmt::format("cannot use {} as fast storage of {} (one is within the other). "
                         "Name a folder elsewhere.",
                         options.fast, options.global)});
    }
    OwnFd room{kernel::open(options.fast.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    OwnFd below{kernel::open(options.global.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto policies = PolicyFinder::open((*global)->path(), options.policy);
    if (!policies) {
        return failure(std::move(policies.error()));
    }
    // The list that forebay-tier keeps is not kept up to date here: it makes it again.
    for (const char* const name : {"/list.sqlite", "/list.sqlite-wal", "/list.sqlite-shm"}) {
        static_cast<void>(kernel::unlink((options.fast + name).c_str()));
    }
    std::unique_ptr<LiveTier> tier{new LiveTier{std::move(*fast), std::move(room),
                                                std::move(*global), std::move(below),
                                                std::move(*policies)}};
    tier->peer_wait_ns_ = options.peer_wait_ns;
    tier->look_ns_ = options.look_ns;
    tier->room_bytes_ = options.room_bytes;
    tier->high_part_ = options.high_part;
    tier->low_part_ = options.low_part;
    tier->deadline_ = tier->deadline_of(options.end_ns, tier->calendar_.now_ns());
    static_cast<void>(tier->job_ends());
    tier->before_waiting_ = options.before_waiting;
    tier->waits_for_peer_ = options.waits_for_peer;
    tier->fast_->renew_lease();
    if (auto removed = tier->fast_->remove_unpublished(); !removed) {
        return failure(std::move(removed.error()));
    }
    tier->finder_ = std::thread{[raw = tier.get()] { raw->find_replicas(); }};
    tier->thread_ = std::thread{[raw = tier.get()] { raw->run(); }};
    tier->peer_thread_ = std::thread{[raw = tier.get()] { raw->serve_peers(); }};
    std::unique_lock lock{tier->mutex_};
    tier->found_.wait_for(lock, std::chrono::nanoseconds{options.find_wait_ns},
                          [&] { return tier->has_found_all(); });
    lock.unlock();
    return tier;
}

LiveTier::~LiveTier() { leave(); }

std::optional<ReplicaName> LiveTier::name_of(int fd, const struct stat& found) {
    {
        const std::lock_guard lock{mutex_};
        const auto known = systems_.find(found.st_dev);
        if (known != systems_.end()) {
            return ReplicaName{known->second, found.st_ino};
        }
    }
    const auto name = name_of_file(fd, "a file");
    if (!name) {
        return std::nullopt;
    }
    const std::lock_guard lock{mutex_};
    systems_[found.st_dev] = name->file_system;
    return *name;
}

std::shared_ptr<LiveFile> LiveTier::entry_of(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    const auto found = files_.find(name);
    return found == files_.end() ? nullptr : found->second;
}

std::shared_ptr<LiveFile> LiveTier::find(const ReplicaName& name) {
    if (auto known = entry_of(name)) {
        return known;
    }
    // A replica that nobody has used since the start, or for long, has a row in the list only.
    const auto listed = list_.find(name);
    if (!listed || !*listed) {
        return nullptr;
    }
    auto made = std::make_shared<LiveFile>(name);
    made->path = (*listed)->path;
    made->policy = policies_.policy_of(made->path);
    made->dirtied_ns = made->written_ns = clock_.now_ns();
    const std::lock_guard lock{mutex_};
    return files_.try_emplace(name, std::move(made)).first->second;
}

std::shared_ptr<LiveFile> LiveTier::find(int fd) {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        return nullptr;
    }
    const auto name = name_of(fd, found);
    if (!name) {
        return nullptr;
    }
    see(*name);
    return find(*name);
}

std::shared_ptr<LiveFile> LiveTier::take(const ReplicaName& name, bool writes) {
    const std::lock_guard lock{mutex_};
    auto& file = files_[name];
    if (!file) {
        file = std::make_shared<LiveFile>(name);
    }
    ++file->handles;
    file->writers += writes ? 1 : 0;
    return file;
}

int LiveTier::open(const TieredOpening& opening, std::shared_ptr<LiveFile>& opened) {
    struct stat found{};
    if (kernel::fstat(opening.fd, &found) != 0) {
        return errno;
    }
    const auto name = name_of(opening.fd, found);
    if (!name) {
        return EIO;
    }
    bool may_be_lost = false;
    int error = wait_for_peer(opening, *name, may_be_lost);
    if (error != 0) {
        return error;
    }
    std::shared_ptr<LiveFile> file = take(*name, opening.writes);
    error = prepare_in_order(*file, opening, may_be_lost);
    list_.note_use(*name, calendar_.now_ns());
    if (error != 0) {
        close(file, opening.writes);
        return error;
    }
    if (opening.writes) {
        leave_room_to_others(*file);
    } else {
        const std::lock_guard lock{mutex_};
        ++(file->descriptor() >= 0 ? counts_.hits : counts_.misses);
    }
    opened = std::move(file);
    return 0;
}

int LiveTier::prepare_in_order(LiveFile& file, const TieredOpening& opening, bool may_be_lost) {
    for (;;) {
        FileLock lock{file.mutex};
        // A replica that is being filled, or was just moved, cannot go before that has ended.
        file.moved.wait(lock, [&] {
            return !opening.writes || !(file.fills || (file.moving && !is_newer(file)));
        });
        const RenameOrder::PathUse use{renames_};
        if (use) {
            note_path(file, opening);
            return prepare(file, opening, may_be_lost);
        }
        lock.unlock();  // a rename may wait for it
        renames_.wait_for_renames();
    }
}

// The kernel says so of a name that is gone. The file may have others, but which ones is not known:
// it gets no replica, which would not be found by its path.
void LiveTier::note_path(LiveFile& file, const TieredOpening& opening) {
    constexpr std::string_view gone = " (deleted)";
    struct stat found{};
    file.removed = kernel::fstat(opening.fd, &found) == 0 && found.st_nlink == 0;
    const std::string now = kernel::path_of_descriptor(opening.fd);
    const std::string& path = now.empty() ? opening.path : now;
    const bool is_named = !file.removed && !path.ends_with(gone);
    if (is_named) {
        file.path = global_->path_from_start(path);
    }
    file.policy = is_named ? policies_.policy_of(file.path) : FolderPolicy{};
    list_.mark_changed(file.name);
}

int LiveTier::prepare(LiveFile& file, const TieredOpening& opening, bool may_be_lost) {
    const bool was_open = file.open != nullptr;
    if (!file.open && !file.moving) {
        const int error = verify(file);
        if (error != 0 && !(opening.empties && cannot_reach(file) && forget_newer(file))) {
            return error_for_program(error);
        }
    }
    if (file.moving && !file.open && !attach(file)) {
        return EIO;
    }
    if (file.open && !is_newer(file) && opening.writes) {
        evict_file(file);  // it is written in place
    }
    if (was_open) {
        look_again(file);  // else verify() has looked just now
    }
    if (file.open && !opening.empties) {
        return find_newer(file);
    }
    if (file.open) {
        const int error = empty_replica(file);
        if (error != 0 || file.open) {
            return error_for_program(error);
        }
    }
    if (const int error = refuse_lost(file, opening, may_be_lost); error != 0) {
        return error;
    }
    if (opening.empties && ::ftruncate(opening.fd, 0) != 0) {
        return errno;
    }
    struct stat found{};
    if (kernel::fstat(opening.fd, &found) != 0) {
        return errno;
    }
    if (opening.writes) {
        // Another writer may be in the middle of a write in place.
        return found.st_size == 0 && found.st_nlink > 0 && (found.st_mode & S_IWUSR) != 0 &&
                       writers_of(file) == 1
                   ? begin_empty(file, opening)
                   : 0;
    }
    return begin_reading(file, opening, found.st_size);
}

int LiveTier::begin_reading(LiveFile& file, const TieredOpening& opening, std::int64_t bytes) {
    if (writers_of(file) > 0 || !file.policy.preload || bytes == 0 || file.filling) {
        return 0;
    }
    // Promised before it is asked for, so that of several at once not all get the same room.
    const std::int64_t others = promised_.fetch_add(bytes, std::memory_order_relaxed);
    if (!is_admitted(file, {.bytes = bytes}, others)) {
        promised_.fetch_sub(bytes, std::memory_order_relaxed);
        return 0;
    }
    if (bytes <= filled_at_once) {
        const int error = fill(file, opening.fd);
        promised_.fetch_sub(bytes, std::memory_order_relaxed);
        return error;
    }
    file.filling = true;
    const std::lock_guard lock{mutex_};
    to_fill_.push_back({files_[file.name], bytes});
    news_.notify_all();
    return 0;
}

// Newer bytes that are in a fast place that is gone are missed at open() already.
int LiveTier::find_newer(LiveFile& file) {
    struct stat found{};
    if (!is_newer(file) || kernel::fstat(file.open->descriptor, &found) == 0 ||
        !is_broken_place(errno)) {
        return 0;
    }
    note_unreadable(file, errno);
    return EIO;
}

// Afterwards the replica may be gone, and the file itself is to be emptied.
int LiveTier::empty_replica(LiveFile& file) {
    int error = begin_change(file);
    if (!file.open) {
        return error;
    }
    if (error == 0) {
        error = ::ftruncate(file.open->descriptor, 0) == 0 ? 0 : errno;
    }
    if (!is_of_fast_place(error)) {
        return error;
    }
    if (!is_newer(file)) {
        evict_file(file);
        return 0;
    }
    return is_broken_place(error) && forget_newer(file) ? 0 : error;
}

bool LiveTier::cannot_reach(const LiveFile& file) {
    auto replica = fast_->open(file.name);
    if (!replica) {
        return is_broken_place(errno_of(replica.error()));
    }
    if (!*replica) {
        return false;
    }
    const auto record = (*replica)->record();
    return !record && is_broken_place(errno_of(record.error()));
}

// The file's marker is taken off afterwards, by refuse_lost().
bool LiveTier::forget_newer(LiveFile& file) {
    if (file.moving) {
        return false;
    }
    detach(file);
    file.closed_status.reset();
    file.moved.notify_all();
    return list_.remove(file.name).has_value();
}

std::uint32_t LiveTier::writers_of(const LiveFile& file) {
    const std::lock_guard lock{mutex_};
    return file.writers;
}

void LiveTier::look_again(LiveFile& file) {
    if (!file.open || file.moving || is_newer(file)) {
        return;
    }
    const auto found = file.open->file->stamp();
    const StampVerdict verdict =
        found ? compare_stamps(file.open->record->get().base, *found) : StampVerdict::contents;
    if (verdict == StampVerdict::contents || verdict == StampVerdict::other_file) {
        evict_file(file);
    }
}

// A marker of this tier says that the replica, which is gone, had newer bytes.
int LiveTier::refuse_lost(LiveFile& file, const TieredOpening& opening, bool may_be_lost) {
    if (!may_be_lost) {
        return 0;  // nobody but this tier sets such a marker, and only on files with a replica
    }
    auto named = global_->open_again(opening.fd, file.path);
    if (!named) {
        return 0;  // without the right to write to it, it has no replica
    }
    const auto marker = read_marker(*named->file, fast_->key());
    if (!marker || judge_marker(*marker, file.name.inode, fast_->owner()) != MarkerVerdict::lost) {
        return 0;
    }
    if (opening.empties) {
        const auto removed = named->file->remove_record();
        return removed ? 0 : errno_of(removed.error());
    }
    tell(
        fmt::format("cannot open {} (the replica with its newest bytes is gone). Bring the fast "
                    "place back, or write it anew.",
                    file.path));
    return EIO;
}

// Sets a replica right that nobody has open, and opens it.
int LiveTier::verify(LiveFile& file) {
    const auto listed = list_.find(file.name);
    const bool is_listed = listed && *listed;
    if (!is_listed && has_found_all()) {
        return 0;
    }
    if (is_listed && (*listed)->path != file.path) {
        relocate(file, std::string{file.path});
    }
    auto done = set_right(file);
    const auto left = list_.find(file.name);
    const bool is_left = left && *left;
    if (!done || done->recovered.obstacle) {
        const Error& why = done ? *done->recovered.obstacle : done.error();
        // Where fast storage fails, the file itself has all bytes of a clean replica. One that
        // could not be rescued would be replaced by a new replica.
        return is_left && (*left)->state != ReplicaState::clean ? errno_of(why) : 0;
    }
    file.closed_status.reset();
    if (done->replica) {
        attach(file, {std::move(done->replica), std::move(*done->record)}, std::move(done->file));
        return 0;
    }
    return is_left ? EIO : 0;
}

bool LiveTier::attach(LiveFile& file) {
    auto replica = fast_->open(file.name);
    auto whole = global_->open(file.path, file.name);
    if (!replica || !*replica || !whole || !*whole) {
        tell(fmt::format("cannot use the replica of {} ({}). Look at both files.", file.path,
                         !replica  ? replica.error().message
                         : !whole  ? whole.error().message
                         : !*whole ? "the file is not under this name"
                                   : "it is gone"));
        return false;
    }
    auto record = read_replica_record(**replica, fast_->key());
    if (!record || !*record) {
        return false;
    }
    attach(file, {std::move(*replica), std::move(**record)}, std::move(*whole));
    return true;
}

void LiveTier::attach(LiveFile& file, MadeReplica replica, std::unique_ptr<TieredFile> whole) {
    auto opened = std::make_unique<OpenedReplica>();
    // Files of a FastFolder are PosixTieredFiles.
    opened->descriptor = static_cast<PosixTieredFile&>(*replica.replica).fd();
    opened->replica = std::move(replica.replica);
    opened->file = std::move(whole);
    opened->record = std::make_unique<LiveRecord>(*opened->replica, fast_->key(), replica.record);
    file.open = std::move(opened);
    file.closed_status.reset();
    const auto row = list_.find(file.name);
    file.listed_bytes = row && *row ? (*row)->bytes : 0;
    file.descriptor_now.store(file.open->descriptor, std::memory_order_release);
}

void LiveTier::detach(LiveFile& file) {
    file.descriptor_now.store(-1, std::memory_order_release);
    if (file.open) {
        file.retired.push_back(std::move(file.open));
    }
}

bool LiveTier::is_newer(const LiveFile& file) {
    return file.open && is_dirty(file.open->record->get().state);
}

// Makes a replica for an empty file; without one, the file itself is written.
int LiveTier::begin_empty(LiveFile& file, const TieredOpening& opening) {
    if (!is_admitted(file, {.writes = true}, promised_.load(std::memory_order_relaxed))) {
        return 0;
    }
    auto named = global_->open_again(opening.fd, file.path);
    if (!named) {
        return 0;
    }
    auto made = make_replica(parts(), file.name, file.path, *named->file, calendar_.now_ns());
    if (!made) {
        // It may have a name already, but no marker on the file.
        static_cast<void>(evict(parts(), file.name));
        const std::lock_guard lock{mutex_};
        ++counts_.given_up;
        return 0;
    }
    file.dirtied_ns = file.written_ns = clock_.now_ns();
    {
        const std::lock_guard lock{mutex_};
        ++counts_.made;
    }
    attach(file, std::move(*made), std::move(named->file));
    return 0;
}

int LiveTier::fill(LiveFile& file, int fd) {
    file.filling = false;
    auto named = global_->open_again(fd, file.path);
    if (!named) {
        return 0;
    }
    CopyMemory memory{copy_request_bytes / 4};
    MadeReplica made;
    const auto end =
        fill_replica(parts(), file.name, file.path, *named->file, clock_, memory, &made);
    if (!end || *end == FillEnd::changed) {
        return 0;  // it is read from the file itself
    }
    if (*end != FillEnd::filled) {
        tell(fmt::format("cannot open {} ({}). {}", file.path,
                         *end == FillEnd::lost ? "the replica with its newest bytes is gone"
                                               : "another fast place has bytes that it lacks",
                         *end == FillEnd::lost ? "Bring the fast place back, or write it anew."
                                               : "Run `forebay tier finish` there first."));
        return EIO;
    }
    {
        const std::lock_guard lock{mutex_};
        ++counts_.filled;
    }
    attach(file, std::move(made), std::move(named->file));
    return 0;
}

void LiveTier::evict_file(LiveFile& file) {
    detach(file);
    file.closed_status.reset();
    if (auto gone = evict(parts(), file.name); !gone) {
        tell(gone.error().message);
    }
    file.moved.notify_all();
    const std::lock_guard lock{mutex_};
    ++counts_.evicted;
}

void LiveTier::note_closed(LiveFile& file) {
    if (file.open && is_newer(file)) {
        file.closed_status = status_of(file);
    }
}

void LiveTier::list_length(LiveFile& file) {
    if (const auto stamp = file.open->replica->stamp()) {
        file.listed_bytes = stamp->bytes;
        static_cast<void>(list_.put(listed(file.name, file.open->record->get(), *stamp)));
    }
}

void LiveTier::close(const std::shared_ptr<LiveFile>& file, bool writes) {
    release(*file, writes);
    news_.notify_all();
}

void LiveTier::release(LiveFile& file, bool writes) {
    const FileLock lock{file.mutex};
    if (writes && is_newer(file)) {
        file.written_ns = clock_.now_ns();
        list_length(file);
    }
    bool last = false;
    {
        const std::lock_guard tier_lock{mutex_};
        file.writers -= writes ? 1 : 0;
        last = --file.handles == 0;
    }
    if (writes) {
        list_.mark_changed(file.name);
    }
    if (last && file.removed && !file.moving) {
        evict_file(file);
    }
    if (last && !file.moving) {
        note_closed(file);
        file.descriptor_now.store(-1, std::memory_order_release);
        file.open.reset();
        file.retired.clear();
    }
    let_go(file);
}

void LiveTier::let_go(const LiveFile& file) {
    const bool is_listed = list_.has(file.name);
    const std::lock_guard tier_lock{mutex_};
    if (file.handles == 0 && !file.moving && !is_listed) {
        files_.erase(file.name);
    }
}

}  // namespace forebay::tier
