// mdtest's directories and names, made when they are needed: ten thousand files cost no memory.
//
//   <base>/mdtest_tree.0/mdtest_tree.1/…/file.mdtest.<rank>.<item>
//   <base>/mdtest_tree.<owner>.0/…                      (-u: a tree of its own for each rank)
//   …/file.mdtest.shared.<item>                          (-S)
//
// <base> is test-dir.<iteration>-0 in a directory of -d. The number of ranks is in no name, so that
// another number of them, or mdtest, finds what one run has made. Directory d of a tree has items
// d · items_each and on: with items at the leaves only, they do not begin at 0.
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

    // Directories of the whole tree, of its last level, and those that hold items.
    [[nodiscard]] std::int64_t directories() const noexcept;
    [[nodiscard]] std::int64_t leaves() const noexcept;
    [[nodiscard]] std::int64_t holders() const noexcept;
    // The number of the holder with this item, if each holds `items_each`.
    [[nodiscard]] std::int64_t holder_of(std::int64_t item, std::int64_t items_each) const noexcept;
    // The number that such an item has in its name.
    [[nodiscard]] std::int64_t named(std::int64_t item, std::int64_t items_each) const noexcept;
    // Below `base`; the numbers go level by level. The owner of a shared tree is nobody.
    [[nodiscard]] std::string path(const std::string& base, std::optional<std::int64_t> owner,
                                   std::int64_t number) const;
};

inline constexpr std::int64_t directories_max = 100'000'000;

[[nodiscard]] Result<void> checked(const DirectoryTree& tree);

// How far -N goes among `tasks`, less than them: mdtest goes so many nodes where neighbouring ranks
// share one. `node_of`: any number of the node of each rank, of which there may be more than tasks.
[[nodiscard]] std::int64_t shift_of(std::int64_t stride, std::span<const std::int32_t> node_of,
                                    std::int64_t tasks);

enum class ItemKind { file, directory };

// "file.mdtest.3.17"; `rank` nullopt: "file.mdtest.shared.17".
[[nodiscard]] std::string item_name(ItemKind kind, std::optional<std::int64_t> rank,
                                    std::int64_t item);
[[nodiscard]] std::string base_name(std::int64_t iteration);

}  // namespace forebay::meta
