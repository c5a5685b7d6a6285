// Tests the list of replicas in memory against a plain map, and how much memory it takes.
#include "tier/live/memory_list.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace forebay::tier {
namespace {

// Sanitizers keep bytes of their own for each allocation.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::int64_t bytes_max = 1000;
#else
constexpr std::int64_t bytes_max = 180;
#endif
#else
constexpr std::int64_t bytes_max = 180;
#endif

ListedReplica row(std::uint64_t inode, const std::string& path,
                  ReplicaState state = ReplicaState::clean, std::int64_t bytes = 10) {
    return {.name = {1, inode}, .state = state, .bytes = bytes, .heat = 1, .path = path};
}

std::vector<std::string> paths_below(const MemoryReplicaList& list, const std::string& path) {
    std::vector<std::string> paths;
    for (const ListedReplica& one : list.all_below(path)) {
        paths.push_back(one.path);
    }
    return paths;
}

using Paths = std::vector<std::string>;

// As the list has them, by the time of a use.
bool is_colder(const ListedReplica& one, const ListedReplica& other) {
    return std::pair{heat_order(one.heat, one.used_ns), one.name} <
           std::pair{heat_order(other.heat, other.used_ns), other.name};
}

std::int64_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::int64_t all = 0;
    std::int64_t resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(MemoryReplicaList, FindsFilesFoldersAndWhatIsBelow) {
    MemoryReplicaList list;
    for (const ListedReplica& one :
         {row(1, "/s/a"), row(2, "/s/b/c"), row(3, "/s/b/d/e"), row(4, "/s/bc")}) {
        ASSERT_TRUE(list.put(one));
    }
    EXPECT_EQ(paths_below(list, "/"), (Paths{"/s/a", "/s/b/c", "/s/b/d/e", "/s/bc"}));
    EXPECT_EQ(paths_below(list, "/s/b"), (Paths{"/s/b/c", "/s/b/d/e"}));
    EXPECT_EQ(paths_below(list, "/s/bc"), Paths{"/s/bc"});
    EXPECT_EQ(paths_below(list, "/s/x"), Paths{});
    ASSERT_TRUE(list.put(row(2, "/t/moved")));
    EXPECT_EQ(paths_below(list, "/s/b"), Paths{"/s/b/d/e"});
    EXPECT_EQ(paths_below(list, "/t"), Paths{"/t/moved"});
    EXPECT_EQ(list.folders(), (Paths{"/s", "/s/b/d", "/t"})) << "none of those that are empty";
}

TEST(MemoryReplicaList, KnowsHowMuchThereIsAndHowMuchWaits) {
    MemoryReplicaList list;
    ASSERT_TRUE(list.put(row(1, "/s/a", ReplicaState::dirty, 10)));
    ASSERT_TRUE(list.put(row(2, "/s/b", ReplicaState::clean, 20)));
    EXPECT_EQ(list.bytes(), 30);
    EXPECT_EQ(list.waiting_bytes(), 10);
    ASSERT_TRUE(list.put(row(1, "/t/a", ReplicaState::dirty, 15)));
    EXPECT_EQ(list.waiting_bytes(), 15) << "it has grown, and was renamed";
    ASSERT_TRUE(list.put(row(1, "/t/a", ReplicaState::clean, 15)));
    EXPECT_EQ(list.bytes(), 35);
    EXPECT_EQ(list.waiting_bytes(), 0);
    ASSERT_TRUE(list.remove({1, 1}));
    EXPECT_EQ(list.bytes(), 20);
}

TEST(MemoryReplicaList, TellsOfEachFolderOnceWhileItHasReplicas) {
    MemoryReplicaList list;
    ASSERT_TRUE(list.put(row(1, "/s/a")));
    ASSERT_TRUE(list.put(row(2, "/t/a")));
    ASSERT_TRUE(list.remove({1, 2}));
    EXPECT_EQ(list.take_new_folders(), Paths{"/s"});
    ASSERT_TRUE(list.put(row(2, "/s/b")));
    ASSERT_TRUE(list.put(row(1, "/s/a", ReplicaState::dirty)));
    const std::uint64_t before = list.looked_at();
    EXPECT_EQ(list.take_new_folders(), Paths{});
    EXPECT_EQ(list.looked_at(), before) << "no folder, where none is new";
    ASSERT_TRUE(list.put(row(2, "/t/b")));
    EXPECT_EQ(list.take_new_folders(), Paths{"/t"});
}

TEST(MemoryReplicaList, LooksAtNoFolderThatIsNotBelow) {
    constexpr std::uint64_t count = 2000;
    MemoryReplicaList list;
    for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_TRUE(list.put(row(i, "/s/" + std::to_string(i) + "/x")));
    }
    ASSERT_TRUE(list.put(row(count, "/s/7/below/y")));
    const std::uint64_t before = list.looked_at();
    EXPECT_EQ(list.sums("/s/7")->replicas, 2);
    EXPECT_LE(list.looked_at() - before, 3U);
    EXPECT_EQ(list.sums("/s")->replicas, 2001);
    EXPECT_LE(list.looked_at() - before, count + 10);
}

TEST(MemoryReplicaList, RemembersUsesWhateverElseChanges) {
    MemoryReplicaList list;
    ASSERT_TRUE(list.put(row(1, "/s/a")));
    list.note_use({1, 1}, 1000);
    list.note_use({1, 1}, 1000);
    list.note_use({1, 2}, 1000);
    ASSERT_TRUE(list.put(row(1, "/s/a", ReplicaState::dirty)));
    const auto found = list.find({1, 1}).value();
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->heat, 3, 1e-6);
    EXPECT_EQ(found->used_ns, 1000);
    EXPECT_EQ(found->state, ReplicaState::dirty);
    EXPECT_FALSE(list.has({1, 2}));
}

RC_GTEST_PROP(MemoryReplicaListProperties, IsAsAPlainMap, ()) {
    const Paths paths{"/s/a", "/s/b", "/s/b/a", "/s/b/b", "/s/c/a", "/s/c/a/b", "/x"};
    MemoryReplicaList list;
    std::map<ReplicaName, ListedReplica> plain;
    const auto steps = *rc::gen::inRange(0, 40);
    for (int i = 0; i < steps; ++i) {
        const auto inode = *rc::gen::inRange<std::uint64_t>(1, 6);
        const ListedReplica one =
            row(inode, paths[*rc::gen::inRange<std::size_t>(0, paths.size())],
                *rc::gen::element(ReplicaState::clean, ReplicaState::dirty, ReplicaState::moving),
                *rc::gen::inRange<std::int64_t>(0, 9));
        if (*rc::gen::inRange(0, 3) == 0) {
            RC_ASSERT(list.remove(one.name).has_value());
            plain.erase(one.name);
        } else {
            RC_ASSERT(list.put(one).has_value());
            plain[one.name] = one;
        }
    }
    for (const std::string folder : {"/", "/s", "/s/b", "/s/c/a"}) {
        ListedSums sums;
        Paths below;
        for (const auto& [name, one] : plain) {
            if (folder == "/" || one.path == folder || one.path.starts_with(folder + "/")) {
                const bool waits = one.state != ReplicaState::clean;
                sums = {sums.replicas + 1, sums.bytes + one.bytes, sums.waiting + (waits ? 1 : 0),
                        sums.waiting_bytes + (waits ? one.bytes : 0)};
                below.push_back(one.path);
            }
        }
        std::ranges::sort(below);
        RC_ASSERT(paths_below(list, folder) == below);
        RC_ASSERT(list.sums(folder).value() == sums);
    }
    const auto waiting = std::ranges::count_if(
        plain, [](const auto& one) { return one.second.state != ReplicaState::clean; });
    RC_ASSERT(std::ssize(list.all_waiting()) == waiting);
}

RC_GTEST_PROP(MemoryReplicaListProperties, KeepsOrdersByHeatAndUseWhateverChanges, ()) {
    const Paths paths{"/s/a", "/s/b", "/s/b/a", "/s/b/b", "/s/c/a", "/x"};
    MemoryReplicaList list;
    const auto steps = *rc::gen::inRange(0, 80);
    for (int i = 0; i < steps; ++i) {
        const ReplicaName name{1, *rc::gen::inRange<std::uint64_t>(1, 20)};
        switch (*rc::gen::inRange(0, 5)) {
            case 0: RC_ASSERT(list.remove(name).has_value()); break;
            case 1: list.note_use(name, *rc::gen::inRange(0, 9) * heat_half_life_ns); break;
            default: {
                ListedReplica one = row(name.inode, *rc::gen::elementOf(paths),
                                        *rc::gen::element(ReplicaState::clean, ReplicaState::clean,
                                                          ReplicaState::dirty));
                one.heat = *rc::gen::inRange(1, 9);
                one.used_ns = *rc::gen::inRange(0, 9) * heat_half_life_ns;
                RC_ASSERT(list.put(one).has_value());
            }
        }
    }
    std::vector<ListedReplica> clean = list.all_below("/");
    std::erase_if(clean, [](const auto& one) { return one.state != ReplicaState::clean; });
    std::ranges::sort(clean, is_colder);
    RC_ASSERT(list.coldest(clean.size() + 1) == clean);
    const auto count = *rc::gen::inRange<std::size_t>(0, clean.size() + 1);
    RC_ASSERT(list.coldest(count) ==
              std::vector(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(count)));
    const std::int64_t until = *rc::gen::inRange(0, 9) * heat_half_life_ns;
    for (const std::string folder : {"", "/s", "/s/b", "/none"}) {
        auto old = list.unused_since(folder, until);
        std::ranges::sort(old, is_colder);
        auto expected = clean;
        std::erase_if(expected, [&](const auto& one) {
            return one.used_ns > until || one.path.substr(0, one.path.rfind('/')) != folder;
        });
        RC_ASSERT(old == expected);
    }
}

// A tier of a million files has to stay below 200 MB.
TEST(MemoryReplicaList, AReplicaTakesNoMoreThanSoManyBytes) {
    constexpr std::uint64_t count = 50'000;
    constexpr std::uint64_t files_a_folder = 1000;
    MemoryReplicaList list;
    const std::int64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string folder =
            "/scratch/a_user/a_project/run." + std::to_string(i / files_a_folder);
        ASSERT_TRUE(list.put(row(i, folder + "/file." + std::to_string(i))));
    }
    EXPECT_LE((resident_bytes() - before) / static_cast<std::int64_t>(count), bytes_max);
    EXPECT_EQ(list.sums("/scratch/a_user/a_project/run.7")->replicas, 1000);
}

}  // namespace
}  // namespace forebay::tier
