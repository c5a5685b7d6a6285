// Tests which replicas are chosen from a list, against a choice from all of them; and by counting,
// how many of the list are looked at.
#include "tier/live/eviction.hpp"

#include "tier/policy/heat.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <string>

namespace forebay::tier {
namespace {

constexpr std::int64_t hour = heat_half_life_ns;
constexpr std::int64_t now = 1000 * hour;
constexpr std::uint64_t many = 20'000;
constexpr std::uint64_t files_a_folder = 1000;

using Names = std::vector<ReplicaName>;

ListedReplica row(std::uint64_t inode, const std::string& path, std::int64_t used_ns) {
    return {.name = {1, inode},
            .state = ReplicaState::clean,
            .bytes = 10,
            .heat = 1,
            .used_ns = used_ns,
            .path = path};
}

// The higher the number of a file, the later it was used: folder 0 has the coldest ones.
void fill(MemoryReplicaList& list) {
    for (std::uint64_t i = 0; i < many; ++i) {
        ASSERT_TRUE(
            list.put(row(i, "/s/" + std::to_string(i / files_a_folder) + "/" + std::to_string(i),
                         now - static_cast<std::int64_t>(many - i) * hour / 1000)));
    }
}

// Nothing is used, and all folders have no policy of their own.
struct Facts {
    std::set<ReplicaName> used{};
    std::set<std::string> pinned{};   // folders
    std::set<std::string> expires{};  // those whose replicas live for an hour
    std::uint64_t asked = 0;          // policies

    [[nodiscard]] EvictionFacts get() {
        return {.is_used = [this](const ReplicaName& name) { return used.contains(name); },
                .policy_of =
                    [this](const std::string& path) {
                        ++asked;
                        const std::string folder = path.substr(0, path.rfind('/'));
                        FolderPolicy policy;
                        policy.pinned = pinned.contains(folder);
                        policy.live_ns = expires.contains(folder) ? hour : 0;
                        return policy;
                    }};
    }
};

EvictSituation lacks(std::int64_t bytes) {
    return {.now_ns = now,
            .used_bytes = 10 * static_cast<std::int64_t>(many),
            .high_bytes = 0,
            .low_bytes = 10 * static_cast<std::int64_t>(many) - bytes};
}

Names names_from(std::uint64_t first, std::uint64_t count) {
    Names names;
    for (std::uint64_t i = first; i < first + count; ++i) {
        names.push_back({1, i});
    }
    return names;
}

TEST(Eviction, TakesTimeForWhatGoesAndNotForWhatStays) {
    MemoryReplicaList list;
    fill(list);
    Facts facts;
    const std::uint64_t before = list.looked_at();
    EXPECT_EQ(coldest_to_evict(list, lacks(30), facts.get()), names_from(0, 3));
    EXPECT_LE(list.looked_at() - before, 400U);
    const std::uint64_t between = list.looked_at();
    EXPECT_EQ(coldest_to_evict(list, lacks(5000), facts.get()), names_from(0, 500));
    EXPECT_LE(list.looked_at() - between, 20U * 500U);
    const std::uint64_t after = list.looked_at();
    EXPECT_TRUE(coldest_to_evict(list, {.used_bytes = 10, .high_bytes = 10}, facts.get()).empty());
    EXPECT_EQ(list.looked_at(), after) << "nothing, where there is room";
}

TEST(Eviction, WhatWaitsIsNotLookedAt) {
    MemoryReplicaList list;
    for (std::uint64_t i = 0; i < many; ++i) {
        ListedReplica one = row(i, "/s/" + std::to_string(i), 0);
        one.state = ReplicaState::dirty;
        ASSERT_TRUE(list.put(one));
    }
    Facts facts;
    EXPECT_TRUE(coldest_to_evict(list, lacks(30), facts.get()).empty());
    EXPECT_LE(list.looked_at(), 10U);
}

TEST(Eviction, WhatIsUsedStaysAndOthersGo) {
    MemoryReplicaList list;
    fill(list);
    Facts facts;
    for (const ReplicaName& name : names_from(0, 100)) {
        facts.used.insert(name);
    }
    EXPECT_EQ(coldest_to_evict(list, lacks(20), facts.get()), names_from(100, 2));
    EXPECT_LE(list.looked_at(), 4000U);
}

TEST(Eviction, PinnedFoldersAreAskedForOnceAndNotReplicaByReplica) {
    MemoryReplicaList list;
    fill(list);
    Facts facts{.pinned = {"/s/0", "/s/1"}};
    EXPECT_EQ(coldest_to_evict(list, lacks(20), facts.get()), names_from(2000, 2));
    EXPECT_LE(list.looked_at(), 2000U);
    const std::uint64_t before = facts.asked;
    EXPECT_EQ(coldest_to_evict(list, lacks(20), facts.get()), names_from(2000, 2));
    EXPECT_LE(facts.asked - before, 64U) << "they are set aside";
    facts.pinned.clear();
    list.take_back();
    EXPECT_EQ(coldest_to_evict(list, lacks(20), facts.get()), names_from(0, 2));
}

TEST(Eviction, AllMayGoWhereAQuotaIsUsedUp) {
    MemoryReplicaList list;
    fill(list);
    Facts facts;
    EXPECT_EQ(coldest_to_evict(list, lacks(11 * many), facts.get()).size(), many);
}

TEST(Eviction, WhatExpiresIsFoundWithoutLookingAtTheRest) {
    MemoryReplicaList list;
    fill(list);
    Facts facts{.expires = {"/s/18", "/s/19"}};
    // The last thousand were used within the last hour.
    Names expected = names_from(18'000, 1000);
    expected.push_back({1, 19'000});
    const std::uint64_t before = list.looked_at();
    EXPECT_EQ(expired_to_evict(list, now, facts.get()), expected);
    EXPECT_LE(list.looked_at() - before, 3U * expected.size() + 100);
    facts.used.insert({1, 18'000});
    EXPECT_EQ(expired_to_evict(list, now, facts.get()).size(), expected.size() - 1);
    facts.pinned.insert("/s/18");
    EXPECT_EQ(expired_to_evict(list, now, facts.get()), (Names{{1, 19'000}}));
}

RC_GTEST_PROP(EvictionProperties, ChoosesAsFromAllReplicas, ()) {
    MemoryReplicaList list;
    Facts facts;
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 300);
    std::vector<EvictCandidate> all;
    Names names;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string folder = "/s/" + std::to_string(*rc::gen::inRange(0, 6));
        ListedReplica one = row(i, folder + "/" + std::to_string(i),
                                now - *rc::gen::inRange<std::int64_t>(0, 1000) * hour / 100);
        one.heat = 1 + *rc::gen::inRange(0, 30);
        one.bytes = *rc::gen::inRange<std::int64_t>(0, 20);
        one.state = *rc::gen::element(ReplicaState::clean, ReplicaState::clean, ReplicaState::clean,
                                      ReplicaState::dirty);
        RC_ASSERT(list.put(one).has_value());
        const bool used = *rc::gen::inRange(0, 5) == 0;
        if (used) {
            facts.used.insert(one.name);
        }
        const bool pinned = folder == "/s/3";
        if (pinned) {
            facts.pinned.insert(folder);
        }
        all.push_back({.bytes = one.bytes,
                       .clean = one.state == ReplicaState::clean,
                       .open = used,
                       .pinned = pinned,
                       .heat = one.heat,
                       .used_ns = one.used_ns});
        names.push_back(one.name);
    }
    EvictSituation full{.now_ns = now, .used_bytes = 3000};
    full.high_bytes = *rc::gen::inRange<std::int64_t>(2000, 3100);
    full.low_bytes = *rc::gen::inRange<std::int64_t>(0, 2000);
    Names expected;
    for (const std::size_t i : to_evict(all, full)) {
        expected.push_back(names[i]);
    }
    RC_ASSERT(coldest_to_evict(list, full, facts.get()) == expected);
}

}  // namespace
}  // namespace forebay::tier
