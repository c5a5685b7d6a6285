// Takes over the replicas that an earlier tier has left. Each is set right before it is used: by
// the thread that looks for all of them, or by the first call on its file. So a start need not wait
// for all of them.
#include "tier/live/live_tier.hpp"

#include "foundation/base/report.hpp"
#include "tier/mover/copy_range.hpp"

#include <fmt/format.h>
#include <string>
#include <utility>

namespace forebay::tier {

namespace {

void say(const std::string& message) { forebay::report("forebay-mount", message); }

}  // namespace

Result<RightReplica> LiveTier::set_right(LiveFile& file) {
    CopyMemory memory{copy_request_bytes / 4};
    const bool was_listed = list_.has(file.name);
    auto done = open_right(parts(), file.name, memory);
    file.moved.notify_all();  // an order to move it may wait for a replica that is gone now
    if (!done || done->recovered.obstacle) {
        say((done ? *done->recovered.obstacle : done.error()).message);
        return done;
    }
    if (done->recovered.done == RedoAction::rescue) {
        ++file.rescues;
        say(
            fmt::format("{} was {} by somebody else: the bytes that were written to it are in {}. "
                        "Compare the two.",
                        done->recovered.path.empty() ? "a file" : done->recovered.path,
                        was_listed ? "changed" : "changed or removed", done->recovered.kept_in));
        const std::lock_guard lock{mutex_};
        ++counts_.rescued;
    }
    return done;
}

void LiveTier::see(const ReplicaName& name) {
    if (has_found_all() || list_.has(name)) {
        return;
    }
    const std::shared_ptr<LiveFile> file = take(name, false);
    {
        const FileLock lock{file->mutex};
        if (!list_.has(name) && !file->open) {
            static_cast<void>(set_right(*file));
            const auto listed = list_.find(name);
            if (listed && *listed) {
                file->path = (*listed)->path;
                file->dirtied_ns = file->written_ns = clock_.now_ns();
            }
            // Asking for a folder's policy may be a request; a clean replica is not moved.
            if (listed && *listed && is_dirty((*listed)->state)) {
                file->policy = policies_.policy_of(file->path);
            }
        }
    }
    release(*file, false);
}

void LiveTier::find_replicas() {
    constexpr std::size_t sweep_every = 1024;
    const auto names = fast_->names();
    if (!names) {
        say(names.error().message + " What is not moved is found when it is asked for only.");
        const std::lock_guard lock{mutex_};
        cannot_list_ = true;
        found_.notify_all();
        return;
    }
    note_unfound(names->size());
    for (std::size_t i = 0; i < names->size(); ++i) {
        {
            const std::lock_guard lock{mutex_};
            if (ends_) {
                return;
            }
        }
        see((*names)[i]);
        if (i % sweep_every == sweep_every - 1) {
            sweep_entries();
        }
        note_unfound(names->size() - i - 1);
    }
    ask_policies_of_new_folders();
}

void LiveTier::note_unfound(std::size_t count) {
    const std::lock_guard lock{mutex_};
    unfound_.store(count, std::memory_order_release);
    if (count == 0) {
        news_.notify_all();
        found_.notify_all();
    }
}

// A tier that ends finds no more.
void LiveTier::wait_until_found() {
    std::unique_lock lock{mutex_};
    found_.wait(lock, [this] { return has_found_all() || cannot_list_ || ends_; });
}

}  // namespace forebay::tier
