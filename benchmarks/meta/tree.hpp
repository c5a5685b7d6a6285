// mdtest's directories and names, computed on demand: ten thousand files take no memory.
//
//   <base>/mdtest_tree.0/mdtest_tree.1/…/file.mdtest.<rank>.<item>
//   <base>/mdtest_tree.<owner>.0/…                      (-u: a tree of its own for each rank)
//   …/file.mdtest.shared.<item>                          (-S)
//
// <base> is test-dir.<iteration>-0 in a directory of -d. No name contains the number of ranks, so
// that a run with another number, or mdtest itself, finds the files. Directory d of a tree holds
// items from d · items_each on; with items in the leaves only, numbers therefore do not begin at 0.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace forebay::meta {

enum class ItemLevel { every, leaves };

struct DirectoryTree {
    std::int64_t branches = 1;
    std::int64_t depth = 0;
    ItemLevel items_at = ItemLevel::every;

    // Numbers of directories: in the whole tree, in its last level, and of those that hold items.
    [[nodiscard]] std::int64_t directories() const noexcept;
    [[nodiscard]] std::int64_t leaves() const noexcept;
    [[nodiscard]] std::int64_t holders() const noexcept;
    // The index of the holder of this item, if each holds `items_each`.
    [[nodiscard]] std::int64_t holder_of(std::int64_t item, std::int64_t items_each) const noexcept;
    // The number of such an item in its name.
    [[nodiscard]] std::int64_t named(std::int64_t item, std::int64_t items_each) const noexcept;
    // The path below `base`; directories are numbered level by level. `owner` is nullopt for a
    // shared tree.
    [[nodiscard]] std::string path(const std::string& base, std::optional<std::int64_t> owner,
                                   std::int64_t number) const;
};

inline constexpr std::int64_t directories_max = 100'000'000;

[[nodiscard]] Result<void> checked(const DirectoryTree& tree);

// The distance in ranks for -N among `tasks` ranks (less than `tasks`): mdtest counts in nodes if
// adjacent ranks share one. `node_of` has an identifier of each rank's node, for `tasks` or more
// ranks.
[[nodiscard]] std::int64_t shift_of(std::int64_t stride, std::span<const std::int32_t> node_of,
                                    std::int64_t tasks);

enum class ItemKind { file, directory };

// "file.mdtest.3.17"; for a shared item (`rank` nullopt) "file.mdtest.shared.17".
[[nodiscard]] std::string item_name(ItemKind kind, std::optional<std::int64_t> rank,
                                    std::int64_t item);
[[nodiscard]] std::string base_name(std::int64_t iteration);

}  // namespace forebay::meta
