// Numbers the directories of a tree level by level.
#include "benchmarks/meta/tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace forebay::meta {

std::int64_t DirectoryTree::leaves() const noexcept {
    std::int64_t count = 1;
    for (std::int64_t level = 0; level < depth; ++level) {
        count *= branches;
    }
    return count;
}

std::int64_t DirectoryTree::directories() const noexcept {
    return branches == 1 ? depth + 1 : (leaves() * branches - 1) / (branches - 1);
}

std::int64_t DirectoryTree::holders() const noexcept {
    return items_at == ItemLevel::leaves ? leaves() : directories();
}

std::int64_t DirectoryTree::holder_of(std::int64_t item, std::int64_t items_each) const noexcept {
    const std::int64_t first = items_at == ItemLevel::leaves ? directories() - leaves() : 0;
    return first + item / items_each % holders();
}

std::int64_t DirectoryTree::named(std::int64_t item, std::int64_t items_each) const noexcept {
    return item + (items_at == ItemLevel::leaves ? (directories() - leaves()) * items_each : 0);
}

std::string DirectoryTree::path(const std::string& base, std::optional<std::int64_t> owner,
                                std::int64_t number) const {
    const std::string name = owner ? fmt::format("mdtest_tree.{}", *owner) : "mdtest_tree";
    std::vector<std::int64_t> way;
    for (std::int64_t at = number; at > 0; at = (at - 1) / branches) {
        way.push_back(at);
    }
    way.push_back(0);
    std::string text = base;
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
        text += fmt::format("/{}.{}", name, *at);
    }
    return text;
}

Result<void> checked(const DirectoryTree& tree) {
    std::int64_t count = 1;
    for (std::int64_t level = 0; level < tree.depth && count <= directories_max; ++level) {
        count = count * tree.branches + (tree.branches == 1 ? 1 : 0);
    }
    if (tree.branches < 1 || tree.depth < 0 || count > directories_max) {
        return failure({.code = ErrorCode::argument,
                        .message = fmt::format("no such tree (branches {}, depth {}). Give at "
                                               "least 1 and 0, and at most {} directories.",
                                               tree.branches, tree.depth, directories_max)});
    }
    return {};
}

std::int64_t shift_of(std::int64_t stride, std::span<const std::int32_t> node_of,
                      std::int64_t tasks) {
    const auto ranks = static_cast<std::int64_t>(node_of.size());
    const std::int64_t on_first = std::count(node_of.begin(), node_of.end(), node_of[0]);
    const bool by_block = on_first < ranks && node_of[1] == node_of[0];
    return stride % tasks * (by_block ? on_first : 1) % tasks;
}

std::string item_name(ItemKind kind, std::optional<std::int64_t> rank, std::int64_t item) {
    return fmt::format("{}.mdtest.{}.{}", kind == ItemKind::file ? "file" : "dir",
                       rank ? std::to_string(*rank) : "shared", item);
}

std::string base_name(std::int64_t iteration) { return fmt::format("test-dir.{}-0", iteration); }

}  // namespace forebay::meta
