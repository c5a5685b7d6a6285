// The thread that moves what was written, fills what is read, and evicts what is in the way; and
// what a user asks for by hand.
#include "tier/live/live_tier.hpp"

#include "foundation/base/folder_path.hpp"
#include "foundation/base/report.hpp"
#include "tier/live/long_wait.hpp"
#include "tier/posix/tiered_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace forebay::tier {

namespace {

constexpr auto look_every = std::chrono::milliseconds{200};
// A file that another thread has when all are to be moved.
constexpr auto look_again_after = std::chrono::milliseconds{5};

}  // namespace

void LiveTier::run() {
    std::unique_lock lock{mutex_};
    while (!ends_) {
        lock.unlock();
        const std::shared_ptr<LiveFile> next = choose();
        if (next) {
            move(next);
            list_.mark_changed(next->name);
        } else {
            fill_next();
            evict_old();
        }
        lock.lock();
        if (!next && !ends_ && (finishes_ || to_fill_.empty())) {
            if (finishes_ && !all_go_) {
                continue;  // it was chosen before the end: files may wait that did not move then
            }
            if (finishes_ && !moves_.has_busy()) {
                break;
            }
            news_.wait_for(lock, finishes_ ? look_again_after : look_every);
        }
    }
}

// The file that is moved next; null: none.
std::shared_ptr<LiveFile> LiveTier::choose() {
    bool finishes = false;
    {
        const std::lock_guard lock{mutex_};
        finishes = finishes_;
    }
    if (finishes && !std::exchange(all_go_, true)) {
        list_.mark_all_changed();
    }
    const PlaceRoom place = room();
    const bool ends = job_ends() || finishes;
    // Files that go past the tier take room below as well, so that nothing waits for long there.
    const std::int64_t waiting = list_.waiting_bytes();
    const bool pressed = place.used > place.high() || (waiting > 0 && !has_room_below(waiting));
    for (;;) {
        const auto name = moves_.take_next(
            list_, {.now_ns = clock_.now_ns(), .pressed = pressed, .job_ends = ends},
            [this, finishes](const ReplicaName& one) { return waiting_file(one, finishes); });
        std::shared_ptr<LiveFile> file = name ? find(*name) : nullptr;
        if (!name || file) {
            return file;
        }  // else it has been removed since, and others may wait
    }
}

// A job that ends soon has a shorter margin.
MoveDeadline LiveTier::deadline_of(std::int64_t end_ns, std::int64_t now_ns) const {
    constexpr std::int64_t margin_max_ns = 60'000'000'000;
    constexpr std::int64_t part_of_job = 10;
    if (end_ns == 0) {
        return {MoveDeadline::never, 0};
    }
    const std::int64_t left_ns = std::max<std::int64_t>(end_ns - now_ns, 0);
    return {clock_.now_ns() + left_ns, std::min(margin_max_ns, left_ns / part_of_job)};
}

bool LiveTier::job_ends() {
    const bool passed = deadline_.passed(clock_.now_ns(), list_.waiting_bytes());
    if (passed && !deadline_passed_.exchange(passed, std::memory_order_relaxed)) {
        std::fprintf(stderr,
                     "forebay-mount: the job ends soon: everything is moved, and new files are "
                     "written to the parallel file system.\n");
    }
    deadline_passed_.store(passed, std::memory_order_relaxed);
    return passed;
}

WaitingFile LiveTier::waiting_file(const ReplicaName& name, bool finishes) {
    const std::shared_ptr<LiveFile> file = find(name);
    const FileLock lock = file ? FileLock{file->mutex, std::try_to_lock} : FileLock{};
    if (file && !lock.owns_lock()) {
        return {.is_busy = true};
    }
    const auto listed = list_.find(name);
    if (!file || file->removed || !listed || !*listed || (*listed)->state == ReplicaState::clean) {
        return {};
    }
    const bool written = writers_of(*file) > 0;
    return {.candidate =
                MoveCandidate{.bytes = (*listed)->bytes,
                              .dirtied_ns = file->dirtied_ns,
                              .written_ns = file->written_ns,
                              .retry_ns = finishes && file->failures < 2 ? 0 : file->retry_ns,
                              .open = written && !finishes,
                              .asked = file->is_ordered(),
                              .under_way = file->moving || (finishes && file->failures > 1),
                              .trigger = file->policy.trigger,
                              .idle_ns = file->policy.idle_ns,
                              .size_bytes = file->policy.size_bytes}};
}

void LiveTier::move(const std::shared_ptr<LiveFile>& file) {
    FileLock lock{file->mutex};
    // Whoever changes a name may wait for the file's lock, so that this does not wait in turn.
    std::unique_lock names{names_, std::try_to_lock};
    if (!names.owns_lock()) {
        constexpr std::int64_t renamed_by_then_ns = 5'000'000;
        file->retry_ns = clock_.now_ns() + renamed_by_then_ns;
        return;
    }
    if (!file->open && verify(*file) != 0) {
        constexpr std::int64_t retry_after_ns = 5'000'000'000;
        file->retry_ns = clock_.now_ns() + retry_after_ns;
        ++file->failures;
        file->orders_done = file->orders;
        file->moved.notify_all();
        return;
    }
    if (!is_newer(*file)) {
        if (file->open) {
            if (const auto stamp = file->open->replica->stamp()) {
                static_cast<void>(list_.put(listed(file->name, file->open->record->get(), *stamp)));
            }
        }
        file->orders_done = file->orders;
        put_away(*file);
        file->moved.notify_all();
        return;
    }
    file->moving = true;
    const std::uint64_t orders_before = file->orders;
    const bool must_be_rescued = file->must_be_rescued;
    OpenedReplica& open = *file->open;
    // The mover has files of its own, since programs' calls use the others meanwhile.
    auto replica = fast_->open(file->name);
    auto whole = global_->open(file->path, file->name);
    names.unlock();
    lock.unlock();
    Result<MoveEnd> end =
        failure({ErrorCode::input_output, EIO,
                 fmt::format("cannot move {} (it cannot be opened). Look at it.", file->path)});
    if (replica && *replica && whole && *whole) {
        CopyMemory memory;
        const std::int64_t began_ns = clock_.now_ns();
        end = run_move(must_be_rescued, {file->name, **replica, **whole, *open.record}, memory);
        const auto moved = (*replica)->stamp();
        if (end && *end == MoveEnd::moved && moved) {
            deadline_.record_move(moved->bytes, clock_.now_ns() - began_ns);
        }
    }
    lock.lock();
    file->moving = false;
    static_cast<void>(settle(*file, end));
    // The file may have been renamed just before the task has listed it under its old path.
    if (const auto now = list_.find(file->name); now && *now && (*now)->path != file->path) {
        relocate(*file, std::string{file->path});
    }
    // The move may leave out bytes that were written before an order that came meanwhile. A failure
    // is told to all who wait, and tried again at its time.
    file->orders_done = end && *end == MoveEnd::overtaken ? orders_before : file->orders;
    put_away(*file);
    file->moved.notify_all();
}

void LiveTier::put_away(LiveFile& file) {
    bool used = false;
    {
        const std::lock_guard lock{mutex_};
        used = file.handles > 0;
    }
    if (used) {
        return;
    }
    if (file.removed) {
        evict_file(file);
    }
    note_closed(file);
    file.descriptor_now.store(-1, std::memory_order_release);
    file.open.reset();
    file.retired.clear();
    forget_unused(file);
}

// An entry that stayed would be taken for that of a later file with this inode number.
void LiveTier::forget_unused(const LiveFile& file) {
    const bool is_listed = list_.has(file.name);
    const std::lock_guard lock{mutex_};
    if (file.handles == 0 && !is_listed) {
        files_.erase(file.name);
    }
}

void LiveTier::fill_next() {
    WantedFill wanted;
    {
        const std::lock_guard lock{mutex_};
        if (to_fill_.empty()) {
            return;
        }
        wanted = to_fill_.front();
        to_fill_.pop_front();
    }
    if (const std::shared_ptr<LiveFile> file = wanted.file.lock()) {
        fill_in_background(file);
    }
    promised_.fetch_sub(wanted.bytes, std::memory_order_relaxed);
}

void LiveTier::fill_in_background(const std::shared_ptr<LiveFile>& file) {
    std::string path;
    {
        const FileLock lock{file->mutex};
        if (file->open || !file->filling || file->removed || writers_of(*file) > 0) {
            file->filling = false;
            return;
        }
        file->fills = true;
        path = file->path;
    }
    // Without the file's lock: programs read the file itself meanwhile.
    auto whole = global_->open(path, file->name);
    if (whole && *whole) {
        CopyMemory memory;
        const auto end = fill_replica(parts(), file->name, path, **whole, clock_, memory);
        const std::lock_guard tier_lock{mutex_};
        if (end && *end == FillEnd::filled) {
            ++counts_.filled;
            files_[file->name] = file;
        }
    }
    const FileLock lock{file->mutex};
    file->filling = file->fills = false;
    if (!file->open) {
        put_away(*file);
    }
    file->moved.notify_all();
}

int LiveTier::move_now(const std::string& path) {
    wait_until_found();
    return move_below(global_->path_from_start(path));
}

int LiveTier::move_now(int fd) {
    const std::shared_ptr<LiveFile> file = find(fd);
    return file ? move_file(*file) : 0;
}

int LiveTier::move_below(const std::string& path) {
    int error = 0;
    for (const ListedReplica& one : list_.all_waiting()) {
        const bool is_meant = FolderPath{path}.holds(one.path);
        const std::shared_ptr<LiveFile> file = is_meant ? find(one.name) : nullptr;
        const int failed = file ? move_file(*file) : 0;
        error = failed != 0 ? failed : error;
    }
    return error;
}

int LiveTier::move_file(LiveFile& file) {
    FileLock lock{file.mutex};
    const auto waits = [&] {
        const auto now = list_.find(file.name);
        return !file.removed && now && *now && is_dirty((*now)->state);
    };
    if (!waits()) {
        return 0;
    }
    const std::uint64_t order = ++file.orders;
    const std::uint32_t failures = file.failures;
    const std::uint32_t rescues = file.rescues;
    file.retry_ns = 0;
    list_.mark_changed(file.name);
    news_.notify_all();
    // Its replica may also go without the mover: because it is full, or has lost its last name.
    file.moved.wait(
        lock, [&] { return file.orders_done >= order || file.failures > failures || !waits(); });
    return file.failures > failures || file.rescues != rescues ? EIO : 0;
}

int LiveTier::evict_now(const std::string& path) {
    wait_until_found();
    int error = 0;
    for (const ListedReplica& one : list_.all_below(global_->path_from_start(path))) {
        const std::shared_ptr<LiveFile> file = find(one.name);
        const int failed = file ? evict_now(*file) : 0;
        error = failed != 0 ? failed : error;
    }
    return error;
}

int LiveTier::evict_now(int fd) {
    const std::shared_ptr<LiveFile> file = find(fd);
    return file ? evict_now(*file) : 0;
}

int LiveTier::evict_now(LiveFile& file) {
    FileLock lock{file.mutex};
    file.moved.wait(lock, [&file] { return !file.moving; });
    const auto now = list_.find(file.name);
    if (!now || !*now) {
        return 0;
    }
    if ((*now)->state != ReplicaState::clean) {
        return EBUSY;
    }
    evict_file(file);
    return 0;
}

int LiveTier::fill_now(int fd, const std::string& path) {
    struct stat found{};
    if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        return EINVAL;
    }
    const auto name = name_of(fd, found);
    if (!name) {
        return EIO;
    }
    LongWait wait{waits_for_peer_};
    wait.begin();  // several may be filled at a time, and programs go on meanwhile
    see(*name);
    const std::shared_ptr<LiveFile> file = take(*name, false);
    int error = 0;
    {
        FileLock lock{file->mutex};
        file->moved.wait(lock, [&file] { return !file->fills; });
        file->path = global_->path_from_start(path);
        if (!list_.has(*name)) {
            error = writers_of(*file) > 0 ? EBUSY : fill(*file, fd);
            error = error == 0 && !list_.has(*name) ? ENOSPC : error;
        }
    }
    close(file, false);
    return error;
}

void LiveTier::end_thread(bool moves_all) {
    {
        const std::lock_guard lock{mutex_};
        finishes_ = moves_all;
        ends_ = !moves_all;
    }
    news_.notify_all();
    found_.notify_all();
    if (finder_.joinable()) {
        finder_.join();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
    {
        const std::lock_guard lock{mutex_};
        ends_ = true;
    }
    news_.notify_all();
    if (peer_thread_.joinable()) {
        peer_thread_.join();
        fast_->release_lease();
    }
}

std::int64_t LiveTier::finish() {
    if (leaves_.load(std::memory_order_relaxed)) {
        leave();
        return 0;
    }
    wait_until_found();
    for (const ListedReplica& one : list_.all_waiting()) {
        if (const std::shared_ptr<LiveFile> file = find(one.name)) {
            const FileLock lock{file->mutex};
            file->failures = 0;  // it is tried once more
            file->retry_ns = 0;
        }
    }
    end_thread(true);
    std::vector<ListedReplica> left = list_.all_waiting();
    std::ranges::sort(left, {}, &ListedReplica::path);
    for (const ListedReplica& one : left) {
        forebay::report(
            "forebay-mount",
            fmt::format("{} is not moved: its bytes are in fast storage. Move them with "
                        "`forebay tier finish`.",
                        one.path));
    }
    return std::ssize(left) + (cannot_list_ ? 1 : 0);  // the finder has told why
}

void LiveTier::leave() { end_thread(false); }

}  // namespace forebay::tier
