// A hash table behind a mutex; the entries of a folder are linked to each other.
#include "tier/live/memory_list.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>
#include <utility>

namespace forebay::tier {

namespace {

bool is_at_or_below(std::string_view path, std::string_view folder) noexcept {
    return folder == "/" || path == folder ||
           (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

bool waits(ReplicaState state) noexcept {
    return state == ReplicaState::dirty || state == ReplicaState::moving;
}

struct SplitPath {
    std::string_view folder;
    std::string_view base;
};
SplitPath split(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos
               ? SplitPath{{}, path}
               : SplitPath{path.substr(0, slash), path.substr(slash + 1)};
}

void add(ListedSums& sums, ReplicaState state, std::int64_t bytes, std::int64_t sign) noexcept {
    sums.replicas += sign;
    sums.bytes += sign * bytes;
    sums.waiting += waits(state) ? sign : 0;
    sums.waiting_bytes += waits(state) ? sign * bytes : 0;
}

}  // namespace

// Inode numbers follow each other; multiplied by an odd number they are spread.
std::size_t MemoryReplicaList::NameHash::operator()(const ReplicaName& name) const noexcept {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((name.file_system ^ name.inode) * golden);
}

std::uint32_t MemoryReplicaList::folder_at(std::string_view path) {
    const auto [found, is_new] = folder_numbers_.try_emplace(std::string{path}, 0);
    if (is_new) {
        if (unused_folders_.empty()) {
            found->second = static_cast<std::uint32_t>(folders_.size());
            folders_.emplace_back();
        } else {
            found->second = unused_folders_.back();
            unused_folders_.pop_back();
        }
        folders_[found->second] = {.path = std::string{path}};
    }
    return found->second;
}

void MemoryReplicaList::link(Entry& entry, std::string_view path) {
    const SplitPath parts = split(path);
    entry.folder = folder_at(parts.folder);
    entry.base = parts.base;
    Folder& folder = folders_[entry.folder];
    entry.before = nullptr;
    entry.after = folder.first;
    if (folder.first != nullptr) {
        folder.first->before = &entry;
    }
    folder.first = &entry;
    add(folder.sums, entry.state, entry.bytes, 1);
}

void MemoryReplicaList::unlink(Entry& entry) {
    Folder& folder = folders_[entry.folder];
    (entry.before != nullptr ? entry.before->after : folder.first) = entry.after;
    if (entry.after != nullptr) {
        entry.after->before = entry.before;
    }
    add(folder.sums, entry.state, entry.bytes, -1);
    if (folder.first == nullptr) {
        folder_numbers_.erase(folder.path);
        folder = {};
        unused_folders_.push_back(entry.folder);
    }
}

ListedReplica MemoryReplicaList::shown(const Entry& entry) const {
    return {.name = *entry.name,
            .state = entry.state,
            .generation = entry.generation,
            .bytes = entry.bytes,
            .heat = entry.heat,
            .used_ns = entry.used_ns,
            .dirtied_ns = entry.dirtied_ns,
            .path = folders_[entry.folder].path + "/" + entry.base};
}

Result<void> MemoryReplicaList::put(const ListedReplica& replica) {
    const std::lock_guard lock{mutex_};
    const auto [found, is_new] = replicas_.try_emplace(replica.name);
    Entry& entry = found->second;
    if (!is_new) {
        unlink(entry);
    }
    entry.name = &found->first;
    entry.state = replica.state;
    entry.generation = replica.generation;
    entry.bytes = replica.bytes;
    entry.heat = is_new ? replica.heat : entry.heat;
    entry.used_ns = std::max(entry.used_ns, replica.used_ns);
    entry.dirtied_ns = replica.dirtied_ns;
    link(entry, replica.path);
    if (waits(replica.state)) {
        waiting_.insert(replica.name);
    } else {
        waiting_.erase(replica.name);
    }
    return {};
}

Result<void> MemoryReplicaList::remove(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    if (const auto found = replicas_.find(name); found != replicas_.end()) {
        unlink(found->second);
        replicas_.erase(found);
        waiting_.erase(name);
    }
    return {};
}

Result<std::optional<ListedReplica>> MemoryReplicaList::find(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    const auto found = replicas_.find(name);
    return found == replicas_.end() ? std::nullopt : std::optional{shown(found->second)};
}

bool MemoryReplicaList::has(const ReplicaName& name) const {
    const std::lock_guard lock{mutex_};
    return replicas_.contains(name);
}

void MemoryReplicaList::note_use(const ReplicaName& name, std::int64_t now_ns) {
    const std::lock_guard lock{mutex_};
    if (const auto found = replicas_.find(name); found != replicas_.end()) {
        Entry& entry = found->second;
        entry.heat = heated(entry.heat, now_ns - entry.used_ns);
        entry.used_ns = std::max(entry.used_ns, now_ns);
    }
}

// All of a folder lies below a path, or none but the file of this path itself.
void MemoryReplicaList::visit_below(const std::string& path,
                                    const std::function<void(const Folder&)>& whole_folder,
                                    const std::function<void(const Entry&)>& file) const {
    for (const auto& [folder_path, number] : folder_numbers_) {
        if (is_at_or_below(folder_path, path)) {
            whole_folder(folders_[number]);
        }
    }
    const SplitPath parts = split(path);
    const auto folder = folder_numbers_.find(std::string{parts.folder});
    if (path == "/" || folder == folder_numbers_.end()) {
        return;
    }
    for (const Entry* one = folders_[folder->second].first; one != nullptr; one = one->after) {
        if (one->base == parts.base) {
            file(*one);
        }
    }
}

std::vector<ListedReplica> MemoryReplicaList::all_below(const std::string& path) const {
    std::vector<ListedReplica> all;
    {
        const std::lock_guard lock{mutex_};
        visit_below(
            path,
            [&](const Folder& folder) {
                for (const Entry* one = folder.first; one != nullptr; one = one->after) {
                    all.push_back(shown(*one));
                }
            },
            [&](const Entry& one) { all.push_back(shown(one)); });
    }
    std::ranges::sort(all, {}, &ListedReplica::path);
    return all;
}

std::vector<std::string> MemoryReplicaList::folders() const {
    std::vector<std::string> paths;
    const std::lock_guard lock{mutex_};
    paths.reserve(folder_numbers_.size());
    for (const auto& [path, number] : folder_numbers_) {
        paths.push_back(path);
    }
    return paths;
}

std::vector<ListedReplica> MemoryReplicaList::all_waiting() const {
    std::vector<ListedReplica> all;
    const std::lock_guard lock{mutex_};
    all.reserve(waiting_.size());
    for (const ReplicaName& name : waiting_) {
        all.push_back(shown(replicas_.at(name)));
    }
    return all;
}

Result<void> MemoryReplicaList::visit(const std::string& path,
                                      const std::function<void(const ListedReplica&)>& visitor) {
    std::ranges::for_each(all_below(path), visitor);
    return {};
}

Result<ListedSums> MemoryReplicaList::sums(const std::string& path) {
    const std::lock_guard lock{mutex_};
    ListedSums sums;
    visit_below(
        path,
        [&](const Folder& folder) {
            sums.replicas += folder.sums.replicas;
            sums.bytes += folder.sums.bytes;
            sums.waiting += folder.sums.waiting;
            sums.waiting_bytes += folder.sums.waiting_bytes;
        },
        [&](const Entry& one) { add(sums, one.state, one.bytes, 1); });
    return sums;
}

// Only one process has the list, and it makes it anew before anybody asks.
Result<void> MemoryReplicaList::replace(const std::function<Result<void>()>& fill) {
    {
        const std::lock_guard lock{mutex_};
        replicas_.clear();
        waiting_.clear();
        folders_.clear();
        unused_folders_.clear();
        folder_numbers_.clear();
    }
    return fill();
}

}  // namespace forebay::tier
