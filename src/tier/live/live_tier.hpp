// The tier of a folder while programs use it: for each open file it says whether bytes go to the
// replica or to the file itself, and moves what was written in a thread of its own. It knows no
// FUSE: whoever serves programs' calls asks it. All functions may be called by any thread.
#pragma once

#include "foundation/base/result.hpp"
#include "storage/posix/clock.hpp"
#include "tier/live/eviction.hpp"
#include "tier/live/live_file.hpp"
#include "tier/live/memory_list.hpp"
#include "tier/live/move_chooser.hpp"
#include "tier/live/policy_finder.hpp"
#include "tier/live/rename_order.hpp"
#include "tier/live/room_below.hpp"
#include "tier/mover/copy_range.hpp"
#include "tier/mover/move_task.hpp"
#include "tier/mover/replicas.hpp"
#include "tier/policy/admission.hpp"
#include "tier/posix/fast_folder.hpp"
#include "tier/posix/global_folder.hpp"
#include "tier/posix/peer_places.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace forebay::tier {

struct LiveOptions {
    std::string fast;       // the folder of replicas, the user's own
    std::string global;     // the folder of the parallel file system
    FolderPolicy policy{};  // of folders below that have none of their own
    // Bytes of fast storage that replicas may take; 0: all of its file system, whoever uses it.
    std::int64_t room_bytes = 0;
    // Percentages of the room: above high_part, replicas are moved and evicted; down to low_part.
    std::int64_t high_part = 90;
    std::int64_t low_part = 70;
    // When the batch job ends (CLOCK_REALTIME); 0: never. All but what a user moves is moved before
    // that, and new files are not taken when there is no time left to move them.
    std::int64_t end_ns = 0;
    // A file of which another tier has newer bytes is waited for as long as it changes, and for so
    // long after that.
    std::int64_t peer_wait_ns = 60'000'000'000;
    // start() waits so long for all replicas to be found; the rest is found while it is served.
    std::int64_t find_wait_ns = 1'000'000'000;
    // How often replicas are looked for whose time to live is up.
    std::int64_t look_ns = 10'000'000'000;
    // Called before a program's write may take long.
    std::function<void()> before_waiting{};
    // Called with 1 and -1: a thread begins and ends to wait for another tier, maybe for minutes.
    std::function<void(int)> waits_for_peer{};
};

// A file that a program has opened.
struct TieredOpening {
    int fd = -1;  // of the file itself, with the program's access mode
    std::string path{};
    bool writes = false;
    bool empties = false;  // O_TRUNC, which open() carries out
};

struct FastWrite {
    std::int64_t offset = 0;
    bool appends = false;
    bool synced = false;  // as by O_DSYNC
    std::span<const std::byte> bytes{};
};

// How much of a request was carried out on the replica.
struct FastResult {
    std::int64_t bytes = 0;
    int error = 0;         // errno, if `bytes` is 0
    bool to_file = false;  // what is left has to be done with the file itself
};

// Numbers of replicas, and of bytes moved, since the tier was started.
struct LiveCounts {
    std::int64_t made = 0;
    std::int64_t filled = 0;
    std::int64_t moved = 0;
    std::int64_t moved_bytes = 0;
    std::int64_t evicted = 0;
    std::int64_t hits = 0;    // files that were opened to be read, and had a replica
    std::int64_t misses = 0;  // … and had none
    std::int64_t rescued = 0;
    std::int64_t failed = 0;      // moves that are tried again
    std::int64_t taken_over = 0;  // files that were moved for tiers of other nodes that have died
    std::int64_t given_up = 0;  // files that went on at the parallel file system, for lack of room
};

class LiveTier {
public:
    // A file of up to so many bytes is filled before its open() returns; others in the background.
    static constexpr std::int64_t filled_at_once = std::int64_t{4} << 20;

    // Opens both places, and starts the threads that find, set right and move what an earlier tier
    // has left. Called before anything is mounted over the folder.
    [[nodiscard]] static Result<std::unique_ptr<LiveTier>> start(const LiveOptions& options);
    LiveTier(const LiveTier&) = delete;
    LiveTier& operator=(const LiveTier&) = delete;
    ~LiveTier();

    // Returns an errno or 0. After success, close() has to follow.
    [[nodiscard]] int open(const TieredOpening& opening, std::shared_ptr<LiveFile>& opened);
    void close(const std::shared_ptr<LiveFile>& file, bool writes);

    [[nodiscard]] FastResult write(LiveFile& file, const FastWrite& order);
    [[nodiscard]] FastResult truncate(LiveFile& file, std::int64_t bytes);
    [[nodiscard]] FastResult allocate(LiveFile& file, int mode, std::int64_t offset,
                                      std::int64_t bytes);
    // Before a program changes the replica by other calls, such as copy_file_range. `to_file`: it
    // has none.
    [[nodiscard]] FastResult prepare_change(LiveFile& file);
    // `to_file`: the file itself has to be synced.
    [[nodiscard]] FastResult sync(LiveFile& file, bool data_only);
    // A call that changes nothing has failed with `error` on `fd`, the file's descriptor() before.
    // 0: the call is to be made again, with the descriptor of now; the replica is dropped if it has
    // no newer bytes. Else the errno for the program.
    [[nodiscard]] int after_failed_call(LiveFile& file, int fd, int error);

    // Sets size, blocks and time of a file whose replica is newer.
    void add_status(int fd, struct stat& status);
    // Sets the mtime of a replica that is newer than its file. False: that is to be done to the
    // file.
    [[nodiscard]] bool set_modified(int fd, const timespec& modified);
    // Before and after the tier's user changes attributes of a file (mode, owner, links, names), so
    // that this counts for no change by others. May be called for files of any kind.
    class AttributeChange {
    public:
        AttributeChange(LiveTier* tier, int fd);
        AttributeChange(const AttributeChange&) = delete;
        AttributeChange& operator=(const AttributeChange&) = delete;
        ~AttributeChange();

    private:
        LiveTier* tier_;
        int fd_;
        std::optional<VersionStamp> before_;
    };
    // Moves what a file lacks before its mode becomes this one, where its owner may lose the right
    // to write (it could not be opened to be moved), or where it gets set-id bits (a move would
    // clear them).
    [[nodiscard]] int before_mode(int fd, mode_t mode);
    // The same before it gets capabilities.
    [[nodiscard]] int before_privileges(int fd);
    // Before a name of a file or folder is removed or changed. What a file of several names lacks
    // is moved: it may be known by this name.
    void before_name_change(int fd);
    // Held from then on until renamed() or unlinked(): no move begins under a path that leads
    // elsewhere already.
    [[nodiscard]] std::shared_lock<std::shared_mutex> hold_names() {
        return std::shared_lock{names_};
    }

    // To be held from before a file or folder gets another name until renamed() was called.
    [[nodiscard]] RenameOrder& renames() noexcept { return renames_; }
    // A file or folder has got another name.
    void renamed(const std::string& from, const std::string& to);
    // A name of the file of `fd` was removed.
    void unlinked(int fd);
    void policy_changed() { policies_.forget(); }

    // Orders of a user, about everything below a folder or about a file, whichever of its names the
    // tier knows. They return an errno or 0.
    [[nodiscard]] int move_now(const std::string& path);
    [[nodiscard]] int move_now(int fd);
    [[nodiscard]] int evict_now(const std::string& path);
    [[nodiscard]] int evict_now(int fd);
    [[nodiscard]] int fill_now(int fd, const std::string& path);
    // As JSON (FileState in python/forebay/tier/model.py).
    [[nodiscard]] std::string describe(int fd);
    [[nodiscard]] std::string describe_all(const std::string& path);

    // Ends the mover. First it moves everything, but what a policy leaves to the user. Returns how
    // many files could not be moved.
    std::int64_t finish();
    // Ends the mover, and leaves what is dirty in fast storage.
    void leave();
    // A user's order for the end: finish() then moves nothing either.
    void leave_at_end() noexcept { leaves_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] const std::string& root() const noexcept { return global_->path(); }

private:
    LiveTier(std::unique_ptr<FastFolder> fast, OwnFd fast_folder,
             std::unique_ptr<GlobalFolder> global, OwnFd global_folder, PolicyFinder policies);

    struct PlaceRoom {
        std::int64_t capacity = 0;  // bytes, as all numbers here
        std::int64_t used = 0;
        std::int64_t high_part = 90;  // percent
        std::int64_t low_part = 70;
        [[nodiscard]] std::int64_t high() const noexcept { return capacity / 100 * high_part; }
        [[nodiscard]] std::int64_t low() const noexcept { return capacity / 100 * low_part; }
    };
    // The room in the fast place. It is asked for by a descriptor, not by a path. If the tier has a
    // room of its own, only its own replicas count.
    [[nodiscard]] PlaceRoom room() const;
    // Whether the parallel file system can take what waits, and so many bytes more. What waits has
    // a right to that room: before a file goes on there, for lack of it, the others are moved.
    [[nodiscard]] bool has_room_below(std::int64_t more) {
        return below_.holds(list_.waiting_bytes() + more);
    }
    void move_others(const LiveFile& except);
    // The same where a program has opened a file that is written in place.
    void leave_room_to_others(LiveFile& file);

    using FileLock = std::unique_lock<std::mutex>;
    // The file's lock, for a write. What may take long is announced.
    [[nodiscard]] FileLock lock_for_write(LiveFile& file) const;
    void announce_waiting() const;
    [[nodiscard]] TierParts parts() { return {*fast_, *global_, list_}; }
    [[nodiscard]] std::optional<ReplicaName> name_of(int fd, const struct stat& found);
    // The entry of a file that is in use, or was lately; else null.
    [[nodiscard]] std::shared_ptr<LiveFile> entry_of(const ReplicaName& name);
    // The same, and that of a file with a listed replica, which is made if it has none.
    [[nodiscard]] std::shared_ptr<LiveFile> find(const ReplicaName& name);
    [[nodiscard]] std::shared_ptr<LiveFile> find(int fd);
    // The file's entry, with one more handle.
    [[nodiscard]] std::shared_ptr<LiveFile> take(const ReplicaName& name, bool writes);
    // Gives the handle back. The last one closes the replica.
    void release(LiveFile& file, bool writes);
    void let_go(const LiveFile& file);

    // Run by a thread of its own: finds the replicas that an earlier tier has left. One whose file
    // is used before it is found is set right by see().
    void find_replicas();
    void note_unfound(std::size_t count);
    [[nodiscard]] bool has_found_all() const noexcept {
        return unfound_.load(std::memory_order_acquire) == 0;
    }
    void wait_until_found();
    // Sets the replica of a file right, if it has one that is not listed yet.
    void see(const ReplicaName& name);
    // Wants the file's lock.
    [[nodiscard]] Result<RightReplica> set_right(LiveFile& file);

    // prepare(), under the path that the file has by now, once nothing is under way that the
    // opening has to wait for.
    [[nodiscard]] int prepare_in_order(LiveFile& file, const TieredOpening& opening,
                                       bool may_be_lost);
    // Wants the file's lock, as do the following.
    void note_path(LiveFile& file, const TieredOpening& opening);
    [[nodiscard]] int prepare(LiveFile& file, const TieredOpening& opening, bool may_be_lost);
    [[nodiscard]] int begin_reading(LiveFile& file, const TieredOpening& opening,
                                    std::int64_t bytes);
    [[nodiscard]] int verify(LiveFile& file);
    // Drops an open replica without newer bytes if somebody else has changed the file.
    void look_again(LiveFile& file);
    [[nodiscard]] int refuse_lost(LiveFile& file, const TieredOpening& opening, bool may_be_lost);
    // They return an errno or 0.
    [[nodiscard]] static int find_newer(LiveFile& file);
    [[nodiscard]] int empty_replica(LiveFile& file);
    // Whether the fast place fails to give the file's replica.
    [[nodiscard]] bool cannot_reach(const LiveFile& file);
    [[nodiscard]] std::uint32_t writers_of(const LiveFile& file);
    [[nodiscard]] int begin_empty(LiveFile& file, const TieredOpening& opening);
    [[nodiscard]] bool attach(LiveFile& file);
    void attach(LiveFile& file, MadeReplica replica, std::unique_ptr<TieredFile> whole);
    static void detach(LiveFile& file);
    [[nodiscard]] static bool is_newer(const LiveFile& file);
    // Tells the list how long an open replica is by now.
    void list_length(LiveFile& file);
    // Afterwards, the replica may be gone.
    [[nodiscard]] int begin_change(LiveFile& file);
    // The parallel file system can take a file that gets so long; else it is given up. An errno or
    // 0; afterwards, the replica may be gone.
    [[nodiscard]] int promise_length(LiveFile& file, FileLock& lock, std::int64_t bytes);
    // Whether the tier's own room has place for so many bytes more, if need be when others are
    // evicted.
    [[nodiscard]] bool fits_in_own_room(const LiveFile& file, std::int64_t more);
    // `promised`: bytes of fast storage that other files will take.
    [[nodiscard]] bool is_admitted(const LiveFile& file, TieredUse use, std::int64_t promised);
    void evict_file(LiveFile& file);
    // Moves what is in the replica, and removes it: the file itself is used from then on. Returns
    // an errno or 0.
    [[nodiscard]] int give_up(LiveFile& file, FileLock& lock);
    [[nodiscard]] int move_and_evict(LiveFile& file, FileLock& lock);
    // The mover moves what is in the replica. If a program may write more, it writes to the file
    // itself from then on. Returns an errno or 0.
    [[nodiscard]] int bring_home(LiveFile& file);
    // The result of a change of the replica that ended with `error`: an error of the fast place
    // gives the replica up, and the file itself is to be changed.
    [[nodiscard]] FastResult result_of(LiveFile& file, FileLock& lock, int error);
    [[nodiscard]] int fill(LiveFile& file, int fd);
    // Evicts the coldest replicas that nobody uses, for a write that found no room. False: none.
    [[nodiscard]] bool give_room(const LiveFile& except);
    // `except`: a file that stays; null: none.
    [[nodiscard]] bool evict_coldest(const EvictSituation& situation, const LiveFile* except);
    [[nodiscard]] EvictionFacts eviction_facts(const LiveFile* except);
    [[nodiscard]] bool is_used(const ReplicaName& name);
    bool evict_unused(const ReplicaName& name);
    // Carries out what follows from the end of a move. Returns an errno or 0.
    int settle(LiveFile& file, const Result<MoveEnd>& end);
    [[nodiscard]] Result<MoveEnd> run_move(bool must_be_rescued, const MoveTask::Files& files,
                                           CopyMemory& memory);
    // Its last name is gone, and no call on the mount has removed it.
    [[nodiscard]] bool is_removed_outside(const LiveFile& file);
    int note_failure(LiveFile& file, const Error& why);
    // Tells once that the newest bytes of the file are in a fast place that fails.
    static void note_unreadable(LiveFile& file, int error);
    // Gives up what the replica has that the file lacks, for a program that empties the file.
    // False: it is being moved.
    [[nodiscard]] bool forget_newer(LiveFile& file);
    [[nodiscard]] Result<void> rescue_file(LiveFile& file);
    [[nodiscard]] std::optional<ReplicaStatus> status_of(LiveFile& file);
    // The reason for which a file waits, as describe() says it.
    [[nodiscard]] std::string_view reason_to_wait(const LiveFile& file);
    void note_closed(LiveFile& file);
    void relocate(LiveFile& file, const std::string& path);

    // Waits until a file has the bytes that another tier has of it. Returns an errno or 0.
    // `may_be_lost` is set: this tier's marker says that the file lacks bytes.
    [[nodiscard]] int wait_for_peer(const TieredOpening& opening, const ReplicaName& name,
                                    bool& may_be_lost);
    struct SeenFile {
        std::optional<FileMarker> marker{};  // that of another tier, while it has newer bytes
        bool is_own = false;                 // this tier's marker says that it has newer bytes
        std::int64_t bytes = 0;
        std::int64_t changed_ns = 0;  // ctime
    };
    [[nodiscard]] Result<SeenFile> look_at(int fd, const ReplicaName& name);
    // Moves what a dead tier has left of one file. False: it cannot be done, or not now.
    bool take_over(const std::string& place, const ReplicaName& name, const std::string& path);
    // A thread that renews the lease, and hears what other nodes wait for.
    void serve_peers();

    // The mover.
    void run();
    [[nodiscard]] std::shared_ptr<LiveFile> choose();
    [[nodiscard]] WaitingFile waiting_file(const ReplicaName& name, bool finishes);
    void move(const std::shared_ptr<LiveFile>& file);
    void put_away(LiveFile& file);
    void fill_next();
    void fill_in_background(const std::shared_ptr<LiveFile>& file);
    int move_below(const std::string& path);
    [[nodiscard]] int evict_now(LiveFile& file);
    // Has the mover move the file, if it waits for that; returns when it has, with an errno or 0.
    [[nodiscard]] int move_file(LiveFile& file);
    void evict_old();
    void evict_expired();
    void ask_policies_of_new_folders();
    void sweep_entries();
    void forget_unused(const LiveFile& file);
    void end_thread(bool moves_all);

    // The end of the job, by its time and by the time now, both CLOCK_REALTIME.
    [[nodiscard]] MoveDeadline deadline_of(std::int64_t end_ns, std::int64_t now_ns) const;
    // Whether there is no more time than moving everything takes; the mover's. It tells admission.
    [[nodiscard]] bool job_ends();

    std::unique_ptr<FastFolder> fast_;
    OwnFd fast_folder_;
    std::unique_ptr<GlobalFolder> global_;
    MemoryReplicaList list_;
    RoomBelow below_;
    PolicyFinder policies_;
    PeerPlaces peers_;
    std::int64_t peer_wait_ns_ = 0;
    std::int64_t look_ns_ = 0;
    std::int64_t room_bytes_ = 0;
    std::int64_t high_part_ = 0;
    std::int64_t low_part_ = 0;
    std::function<void()> before_waiting_{};
    std::function<void(int)> waits_for_peer_{};
    adapters::SteadyClock clock_;
    adapters::CalendarClock calendar_;
    std::atomic<bool> leaves_ = false;
    std::atomic<std::int64_t> taken_bytes_ = 0;  // that programs wrote to replicas
    std::atomic<bool> deadline_passed_ = false;

    std::shared_mutex names_;
    RenameOrder renames_;
    std::mutex mutex_;  // protects the members down to thread_; taken after a file's lock
    std::map<ReplicaName, std::shared_ptr<LiveFile>> files_;
    std::map<dev_t, std::uint64_t> systems_;  // numbers of file systems by device
    struct WantedFill {
        std::weak_ptr<LiveFile> file{};
        std::int64_t bytes = 0;
    };
    std::deque<WantedFill> to_fill_;
    LiveCounts counts_{};
    bool ends_ = false;
    bool finishes_ = false;
    std::condition_variable news_;
    std::int64_t looked_ns_ = 0;  // when evict_old() has looked what expires; the mover's
    MoveChooser moves_;           // the mover's
    MoveDeadline deadline_{MoveDeadline::never, 0};  // the mover's
    bool all_go_ = false;  // choose() has seen that finish() was called; the mover's
    std::thread thread_;
    std::thread peer_thread_;
    std::thread finder_;
    std::condition_variable found_;
    // Replicas that find_replicas() has not seen yet; 1 until it knows how many there are.
    std::atomic<std::size_t> unfound_ = 1;
    bool cannot_list_ = false;  // they are found when they are asked for, and not all of them
    std::atomic<std::int64_t> promised_ = 0;  // bytes of replicas that are being filled, or will be
};

}  // namespace forebay::tier
