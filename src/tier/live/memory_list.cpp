// A hash table behind a mutex. The entries of a folder are in two heaps, and folders in one.
#include "tier/live/memory_list.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace forebay::tier {

namespace {

constexpr double last_in_heat = std::numeric_limits<double>::infinity();
constexpr std::int64_t last_in_use = std::numeric_limits<std::int64_t>::max();

// One that is listed as rescued is to be rescued: that has failed.
bool waits(ReplicaState state) noexcept {
    return state == ReplicaState::dirty || state == ReplicaState::moving ||
           state == ReplicaState::rescued;
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

MemoryReplicaList::ByHeat::Key MemoryReplicaList::ByHeat::key(const Row& row) noexcept {
    const auto& [name, entry] = row;
    return {
        entry.state == ReplicaState::clean ? heat_order(entry.heat, entry.used_ns) : last_in_heat,
        name};
}
std::uint32_t& MemoryReplicaList::ByHeat::place(Row& row) noexcept {
    return row.second.coldest_place;
}

std::int64_t MemoryReplicaList::ByUse::key(const Row& row) noexcept {
    return row.second.state == ReplicaState::clean ? row.second.used_ns : last_in_use;
}
std::uint32_t& MemoryReplicaList::ByUse::place(Row& row) noexcept {
    return row.second.oldest_place;
}

MemoryReplicaList::ByHeat::Key MemoryReplicaList::ByColdest::key(const FolderRow& row) noexcept {
    const Folder& folder = row.second;
    return folder.is_aside || folder.coldest.empty() ? ByHeat::Key{last_in_heat, {}}
                                                     : ByHeat::key(folder.coldest[0]);
}
std::uint32_t& MemoryReplicaList::ByColdest::place(FolderRow& row) noexcept {
    return row.second.place;
}

MemoryReplicaList::FolderRow& MemoryReplicaList::folder_at(std::string_view path) {
    auto found = folders_.find(path);
    if (found == folders_.end()) {
        found = folders_.try_emplace(std::string{path}).first;
        coldest_folders_.insert(*found);
        ++new_folders_;
    }
    return *found;
}

void MemoryReplicaList::count(const Entry& entry, std::int64_t sign) {
    add(entry.folder->second.sums, entry.state, entry.bytes, sign);
    bytes_.fetch_add(sign * entry.bytes, std::memory_order_relaxed);
    if (waits(entry.state)) {
        waiting_bytes_.fetch_add(sign * entry.bytes, std::memory_order_relaxed);
    }
}

void MemoryReplicaList::enter(Row& row, FolderRow& folder) {
    row.second.folder = &folder;
    count(row.second, 1);
    folder.second.coldest.insert(row);
    folder.second.oldest.insert(row);
    coldest_folders_.update(folder);
}

void MemoryReplicaList::leave(Row& row) {
    FolderRow& at = *row.second.folder;
    Folder& folder = at.second;
    count(row.second, -1);
    folder.coldest.remove(row);
    folder.oldest.remove(row);
    if (!folder.oldest.empty()) {
        coldest_folders_.update(at);
        return;
    }
    coldest_folders_.remove(at);
    new_folders_ -= folder.is_new ? 1 : 0;
    folders_.erase(folders_.find(at.first));
}

void MemoryReplicaList::settle(Row& row) {
    Folder& folder = row.second.folder->second;
    folder.coldest.update(row);
    folder.oldest.update(row);
    coldest_folders_.update(*row.second.folder);
}

ListedReplica MemoryReplicaList::shown(const Row& row) {
    const auto& [name, entry] = row;
    return {.name = name,
            .state = entry.state,
            .generation = entry.generation,
            .bytes = entry.bytes,
            .heat = entry.heat,
            .used_ns = entry.used_ns,
            .dirtied_ns = entry.dirtied_ns,
            .path = entry.folder->first + "/" + entry.base};
}

Result<void> MemoryReplicaList::put(const ListedReplica& replica) {
    const std::lock_guard lock{mutex_};
    const SplitPath parts = split(replica.path);
    FolderRow& folder = folder_at(parts.folder);
    const auto [found, is_new] = replicas_.try_emplace(replica.name);
    Entry& entry = found->second;
    const bool stays = entry.folder == &folder;
    if (stays) {
        count(entry, -1);
    } else if (!is_new) {
        leave(*found);
    }
    entry.state = replica.state;
    entry.generation = replica.generation;
    entry.bytes = replica.bytes;
    entry.heat = is_new ? replica.heat : entry.heat;
    entry.used_ns = std::max(entry.used_ns, replica.used_ns);
    entry.dirtied_ns = replica.dirtied_ns;
    entry.base = parts.base;
    if (stays) {
        count(entry, 1);
        settle(*found);
    } else {
        enter(*found, folder);
    }
    if (waits(replica.state)) {
        waiting_.insert(replica.name);
        changed_.insert(replica.name);
    } else if (waiting_.erase(replica.name) != 0) {
        changed_.insert(replica.name);
    }
    return {};
}

Result<void> MemoryReplicaList::remove(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    if (const auto found = replicas_.find(name); found != replicas_.end()) {
        leave(*found);
        replicas_.erase(found);
        if (waiting_.erase(name) != 0) {
            changed_.insert(name);
        }
    }
    return {};
}

Result<std::optional<ListedReplica>> MemoryReplicaList::find(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    const auto found = replicas_.find(name);
    return found == replicas_.end() ? std::nullopt : std::optional{shown(*found)};
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
        settle(*found);
    }
}

// All of a folder lies below a path, or none but the file of this path itself.
void MemoryReplicaList::visit_below(std::string_view path,
                                    const std::function<void(const Folder&)>& whole_folder,
                                    const std::function<void(const Row&)>& file) const {
    const std::string above{path == "/" ? std::string_view{} : path};
    const auto visit_from = [&](auto at, const auto& is_below) {
        for (; at != folders_.end() && is_below(at->first); ++at) {
            ++looked_at_;
            whole_folder(at->second);
        }
    };
    visit_from(folders_.find(above), [&](const std::string& one) { return one == above; });
    // Folders with this beginning follow each other.
    visit_from(folders_.lower_bound(above + "/"),
               [&](const std::string& one) { return one.starts_with(above + "/"); });
    const SplitPath parts = split(above);
    const auto folder = folders_.find(parts.folder);
    if (above.empty() || folder == folders_.end()) {
        return;
    }
    const auto& all = folder->second.oldest;
    for (std::size_t i = 0; i < all.size(); ++i) {
        ++looked_at_;
        if (all[i].second.base == parts.base) {
            file(all[i]);
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
                for (std::size_t i = 0; i < folder.oldest.size(); ++i) {
                    ++looked_at_;
                    all.push_back(shown(folder.oldest[i]));
                }
            },
            [&](const Row& one) { all.push_back(shown(one)); });
    }
    std::ranges::sort(all, {}, &ListedReplica::path);
    return all;
}

std::vector<std::string> MemoryReplicaList::folders() const {
    std::vector<std::string> paths;
    const std::lock_guard lock{mutex_};
    paths.reserve(folders_.size());
    for (const auto& [path, folder] : folders_) {
        ++looked_at_;
        paths.push_back(path);
    }
    return paths;
}

std::vector<std::string> MemoryReplicaList::take_new_folders() {
    std::vector<std::string> paths;
    const std::lock_guard lock{mutex_};
    for (auto at = folders_.begin(); new_folders_ > 0 && at != folders_.end(); ++at) {
        ++looked_at_;
        if (at->second.is_new) {
            at->second.is_new = false;
            --new_folders_;
            paths.push_back(at->first);
        }
    }
    return paths;
}

std::vector<ListedReplica> MemoryReplicaList::all_waiting() const {
    std::vector<ListedReplica> all;
    const std::lock_guard lock{mutex_};
    all.reserve(waiting_.size());
    for (const ReplicaName& name : waiting_) {
        ++looked_at_;
        all.push_back(shown(*replicas_.find(name)));
    }
    return all;
}

std::vector<ReplicaName> MemoryReplicaList::take_changed() {
    const std::lock_guard lock{mutex_};
    const auto taken = std::exchange(changed_, {});
    looked_at_ += taken.size();
    return {taken.begin(), taken.end()};
}

void MemoryReplicaList::mark_changed(const ReplicaName& name) {
    const std::lock_guard lock{mutex_};
    if (waiting_.contains(name)) {
        changed_.insert(name);
    }
}

void MemoryReplicaList::mark_all_changed() {
    const std::lock_guard lock{mutex_};
    changed_.insert(waiting_.begin(), waiting_.end());
}

// Goes through the heaps from their tops: the next one is just below those that were taken. Looks
// at no more than five folders and replicas for each that is taken, and four.
class MemoryReplicaList::ColdestWalk {
public:
    explicit ColdestWalk(const MemoryReplicaList& list) : list_{list} { add_folder(0); }
    // Null: that was the last one.
    [[nodiscard]] const Row* next() {
        while (!next_.empty()) {
            const Step step = next_.top();
            next_.pop();
            if (step.is_folder) {
                add_folder(IndexedHeap<FolderRow, ByColdest>::first_child(step.place));
                add_folder(IndexedHeap<FolderRow, ByColdest>::first_child(step.place) + 1);
                add_replica(*step.folder, 0);
            } else {
                add_replica(*step.folder, IndexedHeap<Row, ByHeat>::first_child(step.place));
                add_replica(*step.folder, IndexedHeap<Row, ByHeat>::first_child(step.place) + 1);
                return &step.folder->coldest[step.place];
            }
        }
        return nullptr;
    }

private:
    struct Step {
        ByHeat::Key key;
        const Folder* folder = nullptr;
        std::size_t place = 0;
        bool is_folder = false;
    };
    struct IsLater {
        bool operator()(const Step& one, const Step& other) const noexcept {
            return other.key < one.key;
        }
    };
    void add_folder(std::size_t place) {
        if (place < list_.coldest_folders_.size()) {
            const FolderRow& row = list_.coldest_folders_[place];
            add({ByColdest::key(row), &row.second, place, true});
        }
    }
    void add_replica(const Folder& folder, std::size_t place) {
        if (place < folder.coldest.size()) {
            add({ByHeat::key(folder.coldest[place]), &folder, place, false});
        }
    }
    void add(const Step& step) {
        ++list_.looked_at_;
        if (step.key.first < last_in_heat) {
            next_.push(step);
        }
    }

    const MemoryReplicaList& list_;
    std::priority_queue<Step, std::vector<Step>, IsLater> next_;
};

std::vector<ListedReplica> MemoryReplicaList::coldest(std::size_t count) const {
    std::vector<ListedReplica> found;
    const std::lock_guard lock{mutex_};
    ColdestWalk walk{*this};
    while (found.size() < count) {
        const Row* const row = walk.next();
        if (row == nullptr) {
            break;
        }
        found.push_back(shown(*row));
    }
    return found;
}

void MemoryReplicaList::set_aside(std::string_view folder) {
    const std::lock_guard lock{mutex_};
    const auto found = folders_.find(folder);
    if (found != folders_.end() && !found->second.is_aside) {
        found->second.is_aside = true;
        coldest_folders_.update(*found);
        aside_.emplace_back(folder);
    }
}

void MemoryReplicaList::take_back() {
    const std::lock_guard lock{mutex_};
    for (const std::string& folder : std::exchange(aside_, {})) {
        ++looked_at_;
        if (const auto found = folders_.find(folder); found != folders_.end()) {
            found->second.is_aside = false;
            coldest_folders_.update(*found);
        }
    }
}

std::vector<ListedReplica> MemoryReplicaList::unused_since(std::string_view folder,
                                                           std::int64_t until_ns) const {
    std::vector<ListedReplica> found;
    const std::lock_guard lock{mutex_};
    const auto at = folders_.find(folder);
    if (at == folders_.end()) {
        return found;
    }
    const auto& oldest = at->second.oldest;
    std::vector<std::size_t> places{0};
    while (!places.empty()) {
        const std::size_t place = places.back();
        places.pop_back();
        if (place >= oldest.size()) {
            continue;
        }
        ++looked_at_;
        const Row& row = oldest[place];
        if (row.second.state == ReplicaState::clean && row.second.used_ns <= until_ns) {
            found.push_back(shown(row));
            places.push_back(oldest.first_child(place));
            places.push_back(oldest.first_child(place) + 1);
        }
    }
    return found;
}

std::uint64_t MemoryReplicaList::looked_at() const {
    const std::lock_guard lock{mutex_};
    return looked_at_;
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
        [&](const Row& one) { add(sums, one.second.state, one.second.bytes, 1); });
    return sums;
}

// Only one process has the list, and it makes it anew before anybody asks.
Result<void> MemoryReplicaList::replace(const std::function<Result<void>()>& fill) {
    {
        const std::lock_guard lock{mutex_};
        coldest_folders_.clear();
        replicas_.clear();
        changed_.insert(waiting_.begin(), waiting_.end());
        waiting_.clear();
        waiting_bytes_.store(0, std::memory_order_relaxed);
        bytes_.store(0, std::memory_order_relaxed);
        folders_.clear();
        aside_.clear();
        new_folders_ = 0;
    }
    return fill();
}

}  // namespace forebay::tier
